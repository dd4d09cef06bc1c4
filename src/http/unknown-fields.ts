import type { FastifyInstance, preHandlerHookHandler } from 'fastify'
import { type Static, type TSchema, Type } from 'typebox'
import { invalid } from '../values/errors.ts'
import { comparedLengthMax, nearestName } from '../values/nearest-name.ts'

const namesMax = 10
/** Comparing a name takes tens of microseconds. A request with more unknown fields has another format, not typos. */
const comparedMax = 50
const nameLengthMax = 60
const malformed = new Set(['additionalProperties', 'type', 'minimum', 'maximum'])
const apiPath = /^(\/public)?\/api\/v1\//

type ObjectSchema = { title?: string; type?: unknown; properties?: Record<string, unknown>; items?: unknown }

/**
 * Returns the schema with all of its objects closed: unknown fields are rejected with 422. For bodies in which a misspelt
 * field would have consequences that cannot be undone. Free-form objects stay open. Closed objects are called
 * `ScheduleInput` instead of `Schedule`.
 */
export const Strict = <Schema extends TSchema>(schema: Schema) => Type.Unsafe<Static<Schema>>(close(schema) as TSchema)

function close(schema: unknown): unknown {
  const { title, properties, items } = schema as ObjectSchema
  if (items) return Object.assign({ ...(schema as object) }, { items: close(items) })
  if (!properties) return schema
  const closed = Object.entries(properties).map(([name, property]) => [name, close(property)])
  return Object.assign(
    { ...(schema as object) },
    { ...(title && { title: `${title}Input` }), properties: Object.fromEntries(closed), additionalProperties: false },
  )
}

/** Rejects unknown query parameters of all API operations that read. Call it before the routes are registered. */
export function rejectUnknownParameters(server: FastifyInstance): void {
  server.addHook('onRoute', (route) => {
    const known = route.schema?.querystring as object | undefined
    if (!apiPath.test(route.url) || !(known || [route.method].flat().includes('GET'))) return
    const querystring = { type: 'object', properties: {}, ...known, additionalProperties: false }
    route.schema = { ...route.schema, querystring }
    if (route.attachValidation) route.preHandler = [rejectMalformed, ...[route.preHandler ?? []].flat()]
  })
}

/** For routes that validate the values of their parameters themselves, with better messages. */
const rejectMalformed: preHandlerHookHandler = (request, _reply, done) => {
  const error = request.validationError
  done(error?.validation?.some(({ keyword }: { keyword: string }) => malformed.has(keyword)) ? error : undefined)
}

/** Describes an unknown field, with the most similar field, or all that exist. */
export function unknownFieldProblem(name: string, known: readonly string[]): string {
  const suggestion = similarField(name, known)
  if (suggestion) return `is unknown. Did you mean ${suggestion}?`
  return known.length === 0 ? 'is unknown' : `is unknown. Allowed: ${known.join(', ')}`
}

/**
 * Returns how unknown fields of a body are handled that is otherwise open: a field that is probably a misspelt one is
 * rejected, since the request would not do what the caller intended, and others are ignored with a warning.
 * `foreign` are names that other services use for a field, or for something that is not in the body.
 */
export function createUnknownFieldCheck(fields: Record<string, unknown>, foreign: Record<string, string> = {}) {
  const known = Object.keys(fields)
  const isKnown = new Set(known)
  const foreignNames = Object.keys(foreign)
  const describe = (unknown: string[]): string[] => {
    for (const name of unknown.slice(0, comparedMax)) {
      const suggestion = similarField(name, known) ?? foreign[similarField(name, foreignNames) ?? '']
      if (suggestion) throw invalid({ path: shortened(name), problem: `is unknown. Did you mean ${suggestion}?` })
    }
    const more = unknown.length > namesMax ? ` and ${unknown.length - namesMax} more` : ''
    const names = unknown.slice(0, namesMax).map(shortened)
    return [`Unknown fields were ignored: ${names.join(', ')}${more}.`]
  }
  return (body: object) => {
    // Bodies of the right form, which are nearly all, cost one look-up per field.
    for (const name in body)
      if (!isKnown.has(name)) return describe(Object.keys(body).filter((each) => !isKnown.has(each)))
    return []
  }
}

/** Ignores case, hyphens and underscores: `sendAt` and `send-at` mean `send_at`. One other difference is a typo. */
function similarField(name: string, known: readonly string[]): string | undefined {
  if (name.length > comparedLengthMax) return undefined
  const plain = plainName(name)
  const position = known.map(plainName).indexOf(plain)
  return position >= 0 ? known[position] : nearestName(name, known, 1)
}

const plainName = (name: string) => name.toLowerCase().replace(/[-_ ]/g, '')
const shortened = (name: string) => (name.length > nameLengthMax ? `${name.slice(0, nameLengthMax)}…` : name)
