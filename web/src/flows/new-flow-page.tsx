import { Page } from '../ui/page.tsx'

export function NewFlowPage() {
  return <Page title="New flow">{null}</Page>
}
