import { Page } from '../ui/page.tsx'

export function SuppressionsPage() {
  return <Page title="SuppressionsPage">{null}</Page>
}
