import type { RouteOptions } from 'fastify'
import { hasScope, type Scope, scopeOf } from '../../accounts/accounts.ts'
import type { Operation, Schema } from '../../platform/http/types.ts'
import { describeOperation } from '../documentation/descriptions.ts'
import { type ListedTool, listedTools } from './tool-list.ts'

type Properties = Record<string, Schema>
type ObjectSchema = { properties?: Properties; required?: readonly string[] }

export type Tool = {
  name: string
  title: string
  description: string
  inputSchema: { type: 'object'; properties: Properties; required: string[]; additionalProperties: false }
  isReadOnly: boolean
  isDestructive: boolean
  confirm: ListedTool['confirm']
  scopes: readonly Scope[]
  isPublic: boolean
  operation: {
    method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
    /** As in routes: `/api/v1/organization/contacts/:id`. */
    url: string
    /** The argument for each parameter of the path. */
    path: Readonly<Record<string, string>>
    query: readonly string[]
    /** Undefined if the operation has no body. */
    body: readonly string[] | undefined
  }
  /** How the pages of a list are read; undefined if the operation does not return a list in pages. */
  paging: 'operation' | 'tool' | undefined
}

/** Collected while the routes are registered: the routes of the listed operations. */
export type ToolRoutes = ReadonlyMap<string, RouteOptions>

/** Builds the tools from the schemas of their routes. Throws if an operation does not exist. */
export const buildTools = (routes: ToolRoutes): Tool[] => listedTools.map((listed) => toolOf(listed, routes))

/** Returns the tools that a key may call. */
export const toolsOf = (tools: readonly Tool[], key: { scopes: readonly Scope[]; publicOnly: boolean }): Tool[] =>
  tools.filter(
    (tool) => (tool.isPublic || !key.publicOnly) && tool.scopes.every((scope) => hasScope(key.scopes, scope)),
  )

function toolOf(listed: ListedTool, routes: ToolRoutes): Tool {
  const { operationId, fields, hint } = listed
  const route = routes.get(operationId)
  if (!route) throw new Error(`There is no operation ${operationId}.`)
  const operation = operationOf(route)
  const isOffered = (name: string) => fields === undefined || fields.includes(name)
  const parameters = operation.parameters ?? []
  const pathNames = new Map(
    parameters
      .filter((parameter) => parameter.in === 'path')
      .map(({ name }) => [name, name === 'id' ? (listed.id ?? name) : name]),
  )
  const query = parameters.filter((parameter) => parameter.in === 'query' && isOffered(parameter.name))
  const body = operation.requestBody?.content.json?.schema as ObjectSchema | undefined
  const bodyFields = Object.entries(body?.properties ?? {}).filter(([name]) => isOffered(name))
  const returnsList = isList(route)
  const hasPages = query.some(({ name }) => name === 'cursor')
  const properties: Properties = {}
  for (const parameter of parameters)
    if (parameter.in === 'path')
      properties[pathNames.get(parameter.name)!] = described(parameter.schema, parameter.description)
  for (const { name, schema, description } of query) properties[name] = described(schema, description)
  for (const [name, schema] of bodyFields) properties[name] = simplified(schema)
  if (returnsList && !hasPages)
    properties.cursor = { type: 'string', description: '`next_cursor` of the previous page.' }
  const required = [
    ...pathNames.values(),
    ...query.filter((parameter) => parameter.required).map(({ name }) => name),
    ...(body?.required ?? []).filter(isOffered),
  ]
  const { method, url } = route as { method: Tool['operation']['method']; url: string }
  const scope = scopeOf(route.config!.permission)
  return {
    name: listed.name ?? snakeCase(operationId),
    title: operation.summary!,
    description: [`${operation.summary}.`, hint].filter(Boolean).join(' '),
    inputSchema: { type: 'object', properties, required, additionalProperties: false },
    isReadOnly: method === 'GET' || listed.readOnly === true,
    isDestructive: listed.destructive ?? false,
    confirm: listed.confirm,
    scopes: [...(scope ? [scope] : []), ...(listed.needs ?? [])],
    isPublic: url.startsWith('/public/'),
    operation: {
      method,
      url,
      path: Object.fromEntries(pathNames),
      query: query.map(({ name }) => name),
      body: body && bodyFields.map(([name]) => name),
    },
    paging: returnsList ? (hasPages ? 'operation' : 'tool') : undefined,
  }
}

/** Returns the operation as the API document has it, with the descriptions of its parameters and fields. */
function operationOf({ schema = {}, url }: RouteOptions): Operation {
  const { operationId, summary, params, querystring, body } = structuredClone(schema) as {
    operationId: string
    summary: string
    params?: ObjectSchema
    querystring?: ObjectSchema
    body?: Schema
  }
  const parametersOf = (place: string, { properties = {}, required = [] }: ObjectSchema = {}) =>
    Object.entries(properties).map(([name, property]) => ({
      name,
      in: place,
      required: required.includes(name),
      schema: property,
      ...(property.description !== undefined && { description: String(property.description) }),
    }))
  const operation: Operation = {
    operationId,
    summary,
    parameters: [...parametersOf('path', params), ...parametersOf('query', querystring)],
    responses: {},
    ...(body && { requestBody: { content: { json: { schema: body } } } }),
  }
  describeOperation(url.replaceAll(/:(\w+)/g, '{$1}'), operation)
  return operation
}

/** True if `data` of the response is a list. */
function isList({ schema }: RouteOptions): boolean {
  const ok = (schema?.response as Record<string, { properties?: { data?: { type?: unknown } } }> | undefined)?.[200]
  return ok?.properties?.data?.type === 'array'
}

const described = (schema: Schema = {}, description?: string): Schema => ({
  ...simplified(schema),
  ...(description !== undefined && { description }),
})

const kept = ['type', 'description', 'enum', 'const', 'format', 'required']

/** Keeps what an assistant needs to fill in a value. References, unions and limits are left to the validation of the route. */
function simplified(schema: Schema): Schema {
  const simple = Object.fromEntries(kept.filter((name) => name in schema).map((name) => [name, schema[name]]))
  // One type, without null: some clients accept nothing else. The routes accept null all the same.
  if (Array.isArray(schema.type)) simple.type = schema.type.find((type) => type !== 'null')
  if (Array.isArray(schema.enum)) simple.enum = schema.enum.filter((value) => value !== null)
  if (schema.properties)
    simple.properties = Object.fromEntries(
      Object.entries(schema.properties as Properties)
        .filter(([, property]) => !isReference(property))
        .map(([name, property]) => [name, simplified(property)]),
    )
  if (schema.items && !isReference(schema.items as Schema)) simple.items = simplified(schema.items as Schema)
  return simple
}

const isReference = (schema: Schema) => '$ref' in schema || 'anyOf' in schema || 'oneOf' in schema

const snakeCase = (name: string) => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
