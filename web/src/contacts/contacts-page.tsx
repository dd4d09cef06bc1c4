import { Page } from '../ui/page.tsx'

export function ContactsPage() {
  return <Page title="Contacts">{null}</Page>
}
