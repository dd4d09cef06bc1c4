import { selectConsents, testRecipientId } from '../../audience/audience.ts'
import type { BoundedRead } from '../../platform/db/bounded-read.ts'
import type { Reader } from '../../platform/db/db.ts'
import { existing } from '../../platform/values/errors.ts'
import type { ContactId, OrganizationId } from '../../platform/values/ids.ts'
import { contactOut, entryOut, type ListName, listNames } from './export-contact.shapes.ts'
import { type Bounded, type ExportKey, findContactToExport, selectNewest } from './export-contact.sql.ts'

/**
 * Reads everything stored about one person and returns it as pieces of one JSON text, so that serializing a large export
 * leaves the event loop free in between. Throws `Refusal` if there is no such contact.
 */
export const exportContact = (read: BoundedRead, organizationId: OrganizationId, id: ContactId) =>
  read(organizationId, async (db) => {
    const contact = await existing('contact', findContactToExport(db, organizationId, id))
    const { emailKey } = contact
    const key = { organizationId, id, ids: [id, testRecipientId(organizationId, emailKey)], emailKey }
    const lists = new Map<ListName, Bounded>()
    for (const name of listNames) lists.set(name, await readList(db, name, key))
    const head = {
      exported_at: new Date().toISOString(),
      contact: contactOut({ ...contact, id }),
      truncated: listNames.filter((name) => lists.get(name)!.isTruncated),
    }
    return jsonPieces(head, lists)
  })

async function readList(db: Reader, name: ListName, key: ExportKey): Promise<Bounded> {
  if (name !== 'consents') return selectNewest(db, name, key)
  return { rows: await selectConsents(db, key.organizationId, key.id), isTruncated: false }
}

/** The envelope of the API, with one piece per entry of a list. */
function* jsonPieces(head: object, lists: ReadonlyMap<ListName, Bounded>): Iterable<string> {
  yield `{"code":200,"status":"success","message":"OK","data":${JSON.stringify(head).slice(0, -1)}`
  for (const [name, { rows }] of lists) {
    const toEntry = entryOut[name] as (row: unknown) => unknown
    yield `,"${name}":[`
    let separator = ''
    for (const row of rows) {
      yield `${separator}${JSON.stringify(toEntry(row))}`
      separator = ',\n'
    }
    yield ']'
  }
  yield '}}\n'
}
