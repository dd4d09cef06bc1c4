import { Outlet, useLocation } from 'react-router'
import { Page } from '../ui/page.tsx'
import { developerItems, type NavItem, sendingItems } from './nav.tsx'

/** The frame of pages that the sidebar lists. Their title is that of the item. */
function ItemFrame({ items, wide = false }: { items: readonly NavItem[]; wide?: boolean }) {
  const { pathname } = useLocation()
  const item = items.find(({ to }) => pathname.startsWith(to))
  return (
    <Page title={item?.label ?? ''} wide={wide}>
      <Outlet />
    </Page>
  )
}

export const SendingFrame = () => <ItemFrame items={sendingItems} />
export const DevelopersFrame = () => <ItemFrame items={developerItems} wide />
