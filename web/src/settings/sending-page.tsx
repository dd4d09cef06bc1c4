import { Page } from '../ui/page.tsx'

export function SendingPage() {
  return <Page title="SendingPage">{null}</Page>
}
