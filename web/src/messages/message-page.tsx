import { Page } from '../ui/page.tsx'

export function MessagePage() {
  return <Page title="Message">{null}</Page>
}
