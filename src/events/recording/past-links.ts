import { selectOrganizationIds } from '../../platform/db/cluster/batches.ts'
import type { Db } from '../../platform/db/db.ts'
import { linkOf } from './link.ts'
import { type PastClick, selectClicksWithoutLink, updateLinks } from './past-links.sql.ts'

const clicksAtOnce = 5_000

/**
 * Stores the link of clicks that were recorded before links were counted, and returns their number. Each batch is a
 * transaction of its own: repeating it after an interruption continues with the rest.
 */
export async function addPastLinks(db: Db): Promise<number> {
  let added = 0
  for (const organizationId of await selectOrganizationIds(db)) {
    let after: PastClick | undefined
    do {
      const clicks = await selectClicksWithoutLink(db, organizationId, { after, limit: clicksAtOnce })
      const links = clicks.flatMap(({ id, url }) => {
        const link = linkOf(url)
        return link ? [{ id, link: link.text }] : []
      })
      if (links.length > 0) await updateLinks(db.statement, organizationId, links)
      added += links.length
      after = clicks.length === clicksAtOnce ? clicks.at(-1) : undefined
    } while (after)
  }
  return added
}
