import type { Db, Reader } from '../db/db.ts'
import { findProblems } from '../flows/liquid/liquid.ts'
import { partNamesIn } from '../flows/with-parts.ts'
import { conflict, existing, invalid, notFound } from '../values/errors.ts'
import { type FlowPartId, newId, type OrganizationId } from '../values/ids.ts'
import { isStorable, unstorableProblem } from '../values/text.ts'
import {
  countParts,
  deletePartRow,
  type FlowPart,
  findPart,
  insertPart,
  selectPartsByName,
  updatePart,
} from './flow-parts.sql.ts'

export type { FlowPart } from './flow-parts.sql.ts'

export const partsMax = 200
export const partBytesMax = 100_000
export const namePattern = '^[a-z][a-z0-9_-]{0,49}$'

/** Throws `Refusal` if the name is taken, or the text is invalid. */
export async function createPart(
  db: Db,
  organizationId: OrganizationId,
  { name, html }: { name: string; html: string },
): Promise<FlowPart> {
  checkHtml(html)
  if ((await countParts(db, organizationId)) >= partsMax)
    throw conflict(`An organization can have at most ${partsMax} parts. Delete one that is no longer used.`)
  const part = await insertPart(db.statement, organizationId, { id: newId('prt'), name, html })
  if (!part) throw conflict('Another part has this name.')
  return part
}

export const getPart = (db: Reader, organizationId: OrganizationId, id: FlowPartId) =>
  existing('flow part', findPart(db, organizationId, id))

export async function changePart(
  db: Db,
  organizationId: OrganizationId,
  id: FlowPartId,
  html: string,
): Promise<FlowPart> {
  checkHtml(html)
  return existing('flow part', updatePart(db.statement, organizationId, id, html))
}

export async function deletePart(db: Db, organizationId: OrganizationId, id: FlowPartId): Promise<void> {
  if (!(await deletePartRow(db.statement, organizationId, id))) throw notFound('flow part')
}

/** Returns the text of those parts that exist, by name. */
export async function findParts(db: Reader, organizationId: OrganizationId, names: readonly string[]) {
  const parts = await selectPartsByName(db, organizationId, names)
  return new Map(parts.map(({ name, html }) => [name, html]))
}

function checkHtml(html: string): void {
  const refuse = (problem: string) => invalid({ path: 'html', problem })
  if (html.trim() === '') throw refuse('must not be empty')
  if (Buffer.byteLength(html) > partBytesMax) throw refuse(`must have at most ${partBytesMax / 1000} KB`)
  if (!isStorable(html)) throw refuse(unstorableProblem)
  if (partNamesIn(html).length > 0) throw refuse('must not include other parts')
  const [first] = findProblems('html', html)
  if (first) throw invalid({ path: 'html', problem: first.message, line: first.line, column: first.column })
}
