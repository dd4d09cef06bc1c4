import { Type } from '@fastify/type-provider-typebox'
import { invalid } from '../errors.ts'
import { type Prefix, parseId } from '../ids.ts'

// Lists go on by cursor: the id of the last item given out. Ids sort by time, so a page never shifts while rows come in.

const limitDefault = 50
const limitMax = 100

export const cursorQuery = {
  cursor: Type.Optional(Type.String({ maxLength: 500 })),
  limit: Type.Optional(
    Type.String({ pattern: '^[0-9]{1,4}$', description: `1 to ${limitMax}, ${limitDefault} when left out.` }),
  ),
}

export function readLimit(asked: string | undefined): number {
  return Math.min(Math.max(Number(asked ?? limitDefault), 1), limitMax)
}

export function readCursor<P extends Prefix>(prefix: P, cursor: string | undefined): ReturnType<typeof parseId<P>> {
  if (cursor === undefined || cursor === '') return undefined
  const id = parseId(prefix, cursor)
  if (!id) throw invalid({ path: 'cursor', problem: 'is not one that was given out' })
  return id
}

/** Of one row more than asked for, the page, and the cursor if there is more. */
export function cutPage<Row>(
  rows: Row[],
  limit: number,
  cursorOf: (row: Row) => string,
): { items: Row[]; nextCursor: string | null } {
  const items = rows.slice(0, limit)
  const last = items.at(-1)
  return { items, nextCursor: rows.length > limit && last !== undefined ? cursorOf(last) : null }
}
