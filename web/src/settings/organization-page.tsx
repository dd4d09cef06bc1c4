import { Page } from '../ui/page.tsx'

export function OrganizationPage() {
  return <Page title="OrganizationPage">{null}</Page>
}
