import { Page } from '../ui/page.tsx'

export function TeamPage() {
  return <Page title="TeamPage">{null}</Page>
}
