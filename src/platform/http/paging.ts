import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { invalid } from '../values/errors.ts'

// Keyset pagination: a page starts after the last row of the previous page. The cost does not depend on the position,
// and inserted or deleted rows cause no duplicates or gaps.

const limitDefault = 50
const limitMax = 100
const cursorMax = 1_000
/** JSON in a query parameter. Encoded, it takes three times as much of the 16 KiB of URL and headers. */
export const jsonParameterMax = 5_000

/** Query parameters of every paged list. */
export const pageQuery = {
  cursor: Type.Optional(Type.String({ maxLength: cursorMax, description: '`next_cursor` of the previous page.' })),
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: limitMax,
      default: limitDefault,
      description: `The number of entries on a page, from 1 to ${limitMax}.`,
    }),
  ),
}

export type PageRequest = { limit: number; cursor: readonly string[] | undefined }
export type Page<Item> = { items: Item[]; nextCursor: string | null }

/** Validates one part of a cursor: a regular expression, or an object with the same `test` method. */
export type CursorPart = { test(value: string): boolean }

/** Parses the parameters. `parts` validate the parts of the cursor. Throws `Refusal` if a parameter is invalid. */
export function readPage(query: { cursor?: string; limit?: number }, parts: readonly CursorPart[]): PageRequest {
  return { limit: query.limit ?? limitDefault, cursor: query.cursor ? readCursor(query.cursor, parts) : undefined }
}

function readCursor(text: string, parts: readonly CursorPart[]): string[] {
  const refused = invalid({ path: 'cursor', problem: 'is not the next_cursor of a page of this list' })
  let values: unknown
  try {
    values = JSON.parse(Buffer.from(text, 'base64url').toString())
  } catch {
    throw refused
  }
  if (!Array.isArray(values) || values.length !== parts.length) throw refused
  if (!values.every((value, index) => typeof value === 'string' && parts[index]!.test(value))) throw refused
  return values as string[]
}

/** Builds a page from up to `limit + 1` rows; the additional row indicates that there is a next page. */
export function toPage<Row>(rows: Row[], limit: number, keyOf: (row: Row) => string[]): Page<Row> {
  const items = rows.slice(0, limit)
  const more = rows.length > limit
  return { items, nextCursor: more ? Buffer.from(JSON.stringify(keyOf(items.at(-1)!))).toString('base64url') : null }
}

/** Returns a hook that adds the `Link` header (RFC 8288) with the URL of the next page to pages of lists. */
export function linkNextPage(baseUrl: () => string) {
  return (
    request: FastifyRequest,
    reply: FastifyReply,
    payload: unknown,
    done: (error: null, payload: unknown) => void,
  ) => {
    const cursor = (payload as { next_cursor?: unknown } | null)?.next_cursor
    if (typeof cursor === 'string') {
      const [path, query] = request.url.split('?', 2)
      const parameters = new URLSearchParams(query)
      parameters.set('cursor', cursor)
      const origin = new URL(baseUrl()).href.replace(/\/$/, '')
      reply.header('link', `<${origin}${path}?${parameters}>; rel="next"`)
    }
    done(null, payload)
  }
}

export const uuidPart = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const isoTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
export const timePart: CursorPart = { test: (value) => isoTime.test(value) && !Number.isNaN(Date.parse(value)) }
