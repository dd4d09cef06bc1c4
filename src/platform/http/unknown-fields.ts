import type { FastifyInstance, preHandlerHookHandler } from 'fastify'
import { type Static, type TSchema, Type } from 'typebox'
import { invalid } from '../values/errors.ts'
import { comparedLengthMax, nearestName } from '../values/nearest-name.ts'

const namesMax = 10
/** Comparing a name takes tens of microseconds. A request with more unknown fields has another format, not typos. */
const comparedMax = 50
/** More are not counted. */
const countedMax = 1_000
const nameLengthMax = 60
/** No array of a send may have more objects. */
const elementsMax = 100
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
 * The same holds for the objects in the body. `foreign` are names that other services use for a field of the body, or for
 * something that is not in it.
 */
export function createUnknownFieldCheck(schema: object, foreign: Record<string, string> = {}) {
  const root = fieldsOf(schema)
  if (!root) throw new Error('The schema has no properties.')
  const foreignNames = Object.keys(foreign)
  const suggestionFor = ({ name, path, known }: UnknownField) =>
    similarField(name, known) ?? (path === name ? foreign[similarField(name, foreignNames) ?? ''] : undefined)
  return (body: object): string[] => {
    // Bodies of the right form, which are nearly all, cost one look-up per field.
    if (!hasUnknown(body, root)) return []
    const paths: string[] = []
    let count = 0
    for (const field of unknownIn(body, root, '')) {
      if (count === countedMax) return [`Unknown fields were ignored: ${paths.join(', ')} and many more.`]
      if (count < namesMax) paths.push(shortened(field.path))
      count++
      const suggestion = count <= comparedMax ? suggestionFor(field) : undefined
      if (suggestion) throw invalid({ path: shortened(field.path), problem: `is unknown. Did you mean ${suggestion}?` })
    }
    const more = count > namesMax ? ` and ${count - namesMax} more` : ''
    return [`Unknown fields were ignored: ${paths.join(', ')}${more}.`]
  }
}

/** The fields of an object, or of the objects in an array. Free-form objects and texts have none. */
type Fields = { known: string[]; isKnown: Set<string>; nested: [name: string, fields: Fields][] }
type UnknownField = { name: string; path: string; known: string[] }

function fieldsOf(schema: unknown): Fields | undefined {
  const { properties, items } = schema as ObjectSchema
  if (items) return fieldsOf(items)
  if (!properties) return undefined
  const nested = Object.entries(properties).map(([name, property]) => [name, fieldsOf(property)] as const)
  return {
    known: Object.keys(properties),
    isKnown: new Set(Object.keys(properties)),
    nested: nested.filter((entry): entry is [string, Fields] => entry[1] !== undefined),
  }
}

function hasUnknown(value: unknown, fields: Fields): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (Array.isArray(value)) return value.slice(0, elementsMax).some((element) => hasUnknown(element, fields))
  for (const name in value) if (!fields.isKnown.has(name)) return true
  return fields.nested.some(([name, inner]) => hasUnknown((value as Record<string, unknown>)[name], inner))
}

function* unknownIn(value: unknown, fields: Fields, prefix: string): Generator<UnknownField> {
  if (typeof value !== 'object' || value === null) return
  if (Array.isArray(value)) {
    for (const [index, element] of value.slice(0, elementsMax).entries())
      yield* unknownIn(element, fields, `${prefix}${index}.`)
    return
  }
  for (const name of Object.keys(value))
    if (!fields.isKnown.has(name)) yield { name, path: `${prefix}${name}`, known: fields.known }
  for (const [name, inner] of fields.nested)
    yield* unknownIn((value as Record<string, unknown>)[name], inner, `${prefix}${name}.`)
}

/** Ignores case, hyphens and underscores: `sendAt` and `send-at` mean `send_at`. One other difference is a typo. */
export function similarField(name: string, known: readonly string[]): string | undefined {
  if (name.length > comparedLengthMax) return undefined
  const plain = plainName(name)
  const position = known.map(plainName).indexOf(plain)
  return position >= 0 ? known[position] : nearestName(name, known, 1)
}

const plainName = (name: string) => name.toLowerCase().replace(/[-_ ]/g, '')
const shortened = (name: string) => (name.length > nameLengthMax ? `${name.slice(0, nameLengthMax)}…` : name)
