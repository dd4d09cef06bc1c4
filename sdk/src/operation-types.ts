import type { operations } from './generated/schema.ts'

/** The name of an operation in the OpenAPI document. */
export type OperationName = keyof operations

type Content<Name extends OperationName, Status extends number> = operations[Name] extends {
  responses: { [Key in Status]: { content: { 'application/json': infer Body } } }
}
  ? Body
  : never

type Answer<Name extends OperationName> = Content<Name, 200> | Content<Name, 201> | Content<Name, 202>

/** What an operation returns: the `data` of its response. */
export type Data<Name extends OperationName> = Answer<Name> extends { data: infer Value } ? Value : never

/** One entry of a list. */
export type Item<Name extends OperationName> = Data<Name> extends readonly (infer Entry)[] ? Entry : never

/** The JSON body of a request. */
export type Body<Name extends OperationName> = operations[Name] extends {
  requestBody?: { content: { 'application/json': infer Value } }
}
  ? Value
  : never

/** The query of a request. */
export type Query<Name extends OperationName> = operations[Name]['parameters'] extends { query?: infer Values }
  ? NonNullable<Values>
  : never
