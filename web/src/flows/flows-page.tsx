import { Page } from '../ui/page.tsx'

export function FlowsPage() {
  return <Page title="Flows">{null}</Page>
}
