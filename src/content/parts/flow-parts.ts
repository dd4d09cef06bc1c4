import type { Db, Reader } from '../../platform/db/db.ts'
import { conflict, existing, invalid, notFound } from '../../platform/values/errors.ts'
import { type FlowPartId, newId, type OrganizationId } from '../../platform/values/ids.ts'
import { isStorable, unstorableProblem } from '../../platform/values/text.ts'
import { toFieldProblems } from '../flows/preview.ts'
import type { TemplateRunner } from '../flows/template-runner.ts'
import { partNamesIn } from '../flows/with-parts.ts'
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

type Parts = { db: Db; runner: TemplateRunner }

/** Throws `Refusal` if the name is taken, or the text is invalid. */
export async function createPart(
  { db, runner }: Parts,
  organizationId: OrganizationId,
  { name, html }: { name: string; html: string },
): Promise<FlowPart> {
  await checkHtml(runner, organizationId, html)
  if ((await countParts(db, organizationId)) >= partsMax)
    throw conflict(`An organization can have at most ${partsMax} parts. Delete one that is no longer used.`)
  const part = await insertPart(db.statement, organizationId, { id: newId('prt'), name, html })
  if (!part) throw conflict('Another part has this name.')
  return part
}

export const getPart = (db: Reader, organizationId: OrganizationId, id: FlowPartId) =>
  existing('flow part', findPart(db, organizationId, id))

export async function changePart(
  { db, runner }: Parts,
  organizationId: OrganizationId,
  id: FlowPartId,
  html: string,
): Promise<FlowPart> {
  await checkHtml(runner, organizationId, html)
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

async function checkHtml(runner: TemplateRunner, organizationId: OrganizationId, html: string): Promise<void> {
  const refuse = (problem: string) => invalid({ path: 'html', problem })
  if (html.trim() === '') throw refuse('must not be empty')
  if (Buffer.byteLength(html) > partBytesMax) throw refuse(`must have at most ${partBytesMax / 1000} KB`)
  if (!isStorable(html)) throw refuse(unstorableProblem)
  if (partNamesIn(html).length > 0) throw refuse('must not include other parts')
  const compiled = await runner.compile(organizationId, {
    subject: '-',
    source: { format: 'html', text: html },
    text: '-',
  })
  if (compiled.kind === 'faulty') throw invalid(toFieldProblems(compiled.problems)[0]!)
}
