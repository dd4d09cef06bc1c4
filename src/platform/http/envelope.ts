import { type Static, type TObjectOptions, type TProperties, type TSchema, Type } from 'typebox'
import { statusOf } from '../values/errors.ts'

/** An object that the API document describes once, under this name, and generated clients have as a type. */
export const Named = <Properties extends TProperties>(
  name: string,
  properties: Properties,
  options: TObjectOptions = {},
) => Type.Object(properties, { title: name, ...options })

// The envelope of every JSON response. Routes declare the schema of `data`; these functions wrap it.

const Envelope = <Code extends number, Data extends TSchema>(code: Code, data: Data) =>
  Type.Object({ code: Type.Literal(code), status: Type.Literal('success'), message: Type.String(), data })

const PageEnvelope = <Item extends TSchema>(item: Item) =>
  Type.Object({
    code: Type.Literal(200),
    status: Type.Literal('success'),
    message: Type.String(),
    data: Type.Array(item),
    next_cursor: Nullable(Type.String()),
  })

/** Every `error.type`, also those that are no refusals. */
const errorTypes = [...Object.keys(statusOf), 'invalid_request', 'internal']

export const FieldProblemOut = Named('FieldProblem', {
  path: Type.String(),
  problem: Type.String(),
  line: Type.Optional(Type.Integer()),
  column: Type.Optional(Type.Integer()),
})

export const ErrorEnvelope = Type.Object(
  {
    code: Type.Integer(),
    status: Type.Literal('error'),
    message: Type.String({ description: 'A description of the problem for people.' }),
    data: Type.Unsafe<null>({ type: ['object', 'null'], description: 'Always null.' }),
    error: Named('ErrorDetail', {
      type: Type.Unsafe<string>({ type: 'string', enum: errorTypes }),
      fields: Type.Array(FieldProblemOut),
      request_id: Type.String(),
    }),
  },
  { $id: 'Error' },
)

const errors = { '4xx': Type.Ref('Error#'), '5xx': Type.Ref('Error#') } as const

/** Response schemas of a route that responds with 200 and `data`. */
export const answers = <Data extends TSchema>(data: Data) => ({ 200: Envelope(200, data), ...errors })
/** … with 201 and the created record. */
export const creates = <Data extends TSchema>(data: Data) => ({ 201: Envelope(201, data), ...errors })
/** … with 202 and the record of work that continues in the background. */
export const accepts = <Data extends TSchema>(data: Data) => ({ 202: Envelope(202, data), ...errors })
/** … with 200 and a page of a list. */
export const pages = <Item extends TSchema>(item: Item) => ({ 200: PageEnvelope(item), ...errors })
/** … with something other than the envelope (a page, an image), or the usual errors. */
export const errorsOnly = errors

export const ok = <Data>(data: Data, message = 'OK') => ({
  code: 200 as const,
  status: 'success' as const,
  message,
  data,
})
export const created = <Data>(data: Data, message = 'Created') => ({
  code: 201 as const,
  status: 'success' as const,
  message,
  data,
})
export const accepted = <Data>(data: Data, message = 'Accepted') => ({
  code: 202 as const,
  status: 'success' as const,
  message,
  data,
})
export const page = <Item>({ items, nextCursor }: { items: Item[]; nextCursor: string | null }) => ({
  ...ok(items),
  next_cursor: nextCursor,
})

/** `type: [T, 'null']` instead of a union, so that the serializer does not validate to choose a branch. */
export function Nullable<Schema extends TSchema>(schema: Schema) {
  const { type, enum: values } = schema as unknown as { type: string | string[]; enum?: string[] }
  return Type.Unsafe<Static<Schema> | null>({
    ...schema,
    type: [type, 'null'].flat(),
    ...(values && { enum: [...values, null] }),
  })
}

/** The parameters of paths with the id of a record. */
export const IdParams = Type.Object({ id: Type.String() })
export const Timestamp = Type.String({ format: 'date-time' })
/** Null, declared as a nullable object: many code generators cannot handle a type that is only null. */
export const Nothing = Type.Unsafe<null>({ type: ['object', 'null'], description: 'Always null.' })
/** Free-form JSON of the customer, passed through unchanged. */
export const FreeObject = Type.Record(Type.String(), Type.Unknown())

export const oneOf = <const Values extends readonly string[]>(...values: Values) =>
  Type.Unsafe<Values[number]>({ type: 'string', enum: values })
