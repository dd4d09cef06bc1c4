import type { OperationErrors } from './server.ts'

/** A recorded request and its response. See test/reference.test.ts. */
export type Example = {
  /** The title of the example, if an operation has several. */
  title: string
  request: {
    /** The path with its parameters filled in, without the query. */
    path: string
    params?: Record<string, string>
    query?: Record<string, string>
    headers?: Record<string, string>
    body?: unknown
    /** A body that is not JSON. */
    text?: string
  }
  response: { status: number; headers?: Record<string, string>; body: unknown }
}

/** Examples by operation. The first example of an operation is a successful one. */
export type Examples = Readonly<Record<string, readonly Example[]>>

export type Schema = Record<string, unknown>
type Media = { schema?: Schema; example?: unknown; examples?: Record<string, { summary: string; value: unknown }> }
export type ResponseEntry = { $ref?: string; description?: string; headers?: Schema; content?: Record<string, Media> }
export type Parameter = {
  name: string
  in: string
  required?: boolean
  description?: string
  schema?: Schema
  example?: unknown
}

export type Operation = {
  operationId: string
  summary?: string
  description?: string
  tags?: string[]
  security?: Record<string, string[]>[]
  parameters?: Parameter[]
  requestBody?: { required?: boolean; content: Record<string, Media> }
  responses: Record<string, ResponseEntry>
  'x-codeSamples'?: { lang: string; label: string; source: string }[]
  /** Removed when the document is completed. */
  'x-errors'?: OperationErrors
  /** Who may call it: what the route declares. */
  'x-permission'?: string
  'x-installation-permission'?: string
  'x-scope'?: string
}

/** Returns the value of a parameter that was recorded as text. */
export function typedValue(parameter: Parameter | undefined, text: string): unknown {
  const type = parameter?.schema?.type
  if (type === 'integer') return Number(text)
  return type === 'boolean' ? text === 'true' : text
}

/** True if the operation responds with a file instead of JSON. */
export function isFile({ responses }: Pick<Operation, 'responses'>): boolean {
  const content = responses[200]?.content
  return content !== undefined && !('application/json' in content)
}

/** A request that the service sends. */
export type Webhook = { post: Schema & { requestBody: { required: boolean; content: { 'application/json': Media } } } }

export type ApiDocument = {
  openapi: string
  info: { title: string; version: string; description?: string }
  servers: { url: string }[]
  tags: { name: string; description?: string }[]
  paths: Record<string, Record<string, Operation>>
  webhooks?: Record<string, Webhook>
  components: { schemas: Record<string, Schema>; securitySchemes: Schema; responses?: Record<string, ResponseEntry> }
  'x-tagGroups'?: { name: string; tags: string[] }[]
}

/** All operations of a document. */
export const operationsOf = ({ paths }: ApiDocument) =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  )
