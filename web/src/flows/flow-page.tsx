import { Page } from '../ui/page.tsx'

export function FlowPage() {
  return <Page title="Flow">{null}</Page>
}
