import { isDeepStrictEqual } from 'node:util'
import type { ApiDocument, ResponseEntry, Schema } from '../../platform/http/types.ts'

const refTo = (name: string): Schema => ({ $ref: `#/components/schemas/${name}` })

/**
 * Moves each schema with a title to the components, under that name, and refers to it. Routes contain these schemas
 * inline, because a validator or serializer compiled from references would be slower.
 */
export function nameSchemas(document: ApiDocument): void {
  const components: Record<string, Schema> = {}
  const named = <Value>(value: Value): Value => {
    if (Array.isArray(value)) return value.map(named) as Value
    if (typeof value !== 'object' || value === null) return value
    const schema: Schema = Object.fromEntries(Object.entries(value).map(([key, part]) => [key, named(part)]))
    return (typeof schema.title === 'string' ? reference(schema) : envelope(schema)) as Value
  }
  const add = (name: string, schema: Schema): Schema => {
    components[name] ??= schema
    const { description: _, ...known } = components[name]
    const { description: _description, ...content } = schema
    if (!isDeepStrictEqual(content, known)) throw new Error(`Different schemas are called ${name}.`)
    return refTo(name)
  }
  const reference = ({ title, ...schema }: Schema) => {
    const name = title as string
    const { description, ...content } = schema
    if (Array.isArray(schema.type)) {
      const alternative = add(name, withoutNull(content))
      if (!schema.type.includes('null')) return { ...alternative, description }
      const anyOf = [alternative, { type: 'null' }]
      return description === undefined ? { anyOf } : { description, anyOf }
    }
    const ref = add(name, schema)
    return description === components[name]!.description ? ref : { ...ref, description }
  }
  /** Envelopes are called after their data: `ContactResponse`, `ContactList` and `ContactPage`. */
  const envelope = (schema: Schema): Schema => {
    const { properties } = schema as { properties?: Record<string, Schema> }
    const base = properties?.status?.enum ? envelopeNames[Object.keys(properties).join()] : undefined
    if (!base) return schema
    const data = properties!.data!
    const content = { allOf: [refTo(base), { type: 'object', required: ['data'], properties: { data } }] }
    const [entry, single] = [nameIn(data.items), nameIn(data)]
    if (entry) return add(`${entry}${base === 'Page' ? 'Page' : 'List'}`, content)
    return single || data.description === 'Always null.' ? add(`${single ?? 'Empty'}Response`, content) : content
  }
  document.paths = named(document.paths)
  document.webhooks = named(document.webhooks ?? {})
  const shared = Object.entries(document.components.schemas).map(([name, schema]) => [name, named(schema)] as const)
  document.components.schemas = sorted({ ...Object.fromEntries(shared), ...components, Success: success, Page: page })
  discriminate(document.components.schemas.ContactFilter!, components)
}

const sorted = <Value>(record: Record<string, Value>) =>
  Object.fromEntries(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)))

/** Several types become alternatives, because many code generators expect a single `type`. */
function withoutNull({ type, items, ...schema }: Schema): Schema {
  const values = schema.enum as unknown[] | undefined
  const [first, ...others] = (type as string[]).filter((each) => each !== 'null')
  const alternatives = [first, ...others].map((each) => (each === 'array' ? { type: each, items } : { type: each }))
  if (others.length > 0) return { ...schema, anyOf: alternatives }
  return { ...alternatives[0], ...schema, ...(values && { enum: values.filter((value) => value !== null) }) }
}

const success: Schema = {
  description: 'The envelope of a successful response. `data` has the result.',
  type: 'object',
  required: ['code', 'status', 'message'],
  properties: {
    code: { type: 'integer', description: 'The HTTP status.' },
    status: { type: 'string', enum: ['success'] },
    message: { type: 'string' },
  },
}
const page: Schema = {
  description: 'The envelope of a page of a list. `data` has the entries.',
  allOf: [refTo('Success')],
  type: 'object',
  required: ['next_cursor'],
  properties: {
    next_cursor: { type: ['string', 'null'], description: 'The `cursor` of the next page, or null on the last page.' },
  },
}

const envelopeNames: Readonly<Record<string, string>> = {
  'code,status,message,data': 'Success',
  'code,status,message,data,next_cursor': 'Page',
}

/** Returns the name in a reference without other keywords. */
function nameIn(schema: unknown): string | undefined {
  const { $ref, ...others } = (schema ?? {}) as { $ref?: string }
  return Object.keys(others).length === 0 ? $ref?.split('/').at(-1) : undefined
}

/** Declares which schema applies, by the `type` of a condition. Constants are documented as enums with one value. */
function discriminate(filter: Schema, components: Record<string, Schema>): void {
  const conditions = (filter.oneOf as { $ref: string }[]).map(({ $ref }) => {
    const { type } = components[nameIn({ $ref })!]!.properties as { type: { enum: [string] } }
    return [type.enum[0], $ref]
  })
  filter.discriminator = { propertyName: 'type', mapping: Object.fromEntries(conditions) }
}

/** Removes the responses that no operation refers to. */
export function removeUnusedResponses(document: ApiDocument): void {
  const used = new Set(
    Object.values(document.paths)
      .flatMap((methods) => Object.values(methods))
      .flatMap(({ responses }) => Object.values(responses).map(({ $ref }) => $ref)),
  )
  const entries = Object.entries(document.components.responses ?? {}) as [string, ResponseEntry][]
  document.components.responses = Object.fromEntries(
    entries.filter(([name]) => used.has(`#/components/responses/${name}`)),
  )
}
