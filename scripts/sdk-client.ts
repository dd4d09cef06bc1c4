import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { packageRoot } from '../src/config/package-root.ts'
import { isFile, type ResponseEntry } from '../src/documentation/types.ts'

type Parameter = { in: string; name: string; required?: boolean }
type Operation = {
  operationId: string
  summary?: string
  description?: string
  tags?: string[]
  parameters?: Parameter[]
  requestBody?: { required?: boolean; content: Record<string, unknown> }
  responses: Record<string, ResponseEntry>
  security?: object[]
}
export type OpenApiDocument = { paths: Record<string, Record<string, Operation>> }

const lineLengthMax = 116

/** Operations for mail providers and for tools that read the OpenAPI document, and those that respond with a file. */
const isForOthers = (operation: Operation) =>
  operation.tags?.includes('Providers') || operation.tags?.includes('Documentation') || isFile(operation)
/** `Waxwing` has the operations of the public API. */
const isPublicApi = (path: string) => path.startsWith('/public/')

/** Operations that send POST and can be repeated without a second effect. */
export const repeatable = [
  'login',
  'signOutEverywhere',
  'addContactsToGroup',
  'inspectImportFile',
  'cancelBulkAction',
  'cancelImport',
  'previewTemplate',
  'previewFlow',
  'checkSending',
]

/** Returns the code of the management client: one method for each operation of the OpenAPI document. */
export function managementClientCode(document: OpenApiDocument): string {
  const methods = Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.entries(operations)
      .filter(([, operation]) => !isPublicApi(path) && !isForOthers(operation))
      .map(([method, operation]) => methodCode(method.toUpperCase(), path, operation)),
  )
  return `// Generated from docs/openapi.json by \`npm run openapi\`. Do not edit.

import { ManagementCaller, type ManagementOptions, type RequestOptions } from '../management-caller.ts'
import type { Body, Data, Item, Query } from '../operation-types.ts'
import type { PagedList } from '../paged-list.ts'

/** A client for the management API of a Waxwing server. Fields have the names of the API reference. */
export class WaxwingManagement {
  readonly #caller: ManagementCaller

  constructor(options: ManagementOptions) {
    this.#caller = new ManagementCaller(options)
  }

${methods.join('\n')}}
`
}

function methodCode(method: string, path: string, operation: Operation): string {
  const { operationId: name, parameters = [], requestBody } = operation
  const pathNames = parameters.filter((parameter) => parameter.in === 'path').map((parameter) => camel(parameter.name))
  const query = parameters.filter((parameter) => parameter.in === 'query')
  const isPaged = query.some((parameter) => parameter.name === 'cursor')
  const mediaType = Object.keys(requestBody?.content ?? {})[0]
  const isJson = mediaType === 'application/json'

  const inputs = pathNames.map((pathName) => `${pathName}: string`)
  if (mediaType) {
    const type = isJson ? `Body<'${name}'>` : 'string | Uint8Array<ArrayBuffer> | Blob'
    inputs.push(isJson && requestBody?.required !== true ? `body: ${type} = {}` : `body: ${type}`)
  }
  if (query.length > 0) {
    const isRequired = query.some((parameter) => parameter.required)
    inputs.push(isRequired ? `query: Query<'${name}'>` : `query: Query<'${name}'> = {}`)
  }
  inputs.push('options?: RequestOptions')

  const fields = [`method: '${method}'`, `path: ${pathCode(path)}`]
  if (query.length > 0) fields.push('query')
  if (mediaType) fields.push('body')
  if (mediaType && !isJson) fields.push(`contentType: '${mediaType}'`)
  if (operation.security?.length === 0) fields.push('isPublic: true')
  if (repeatable.includes(name)) fields.push('isRepeatable: true')
  fields.push('options')

  const [call, type] = isPaged ? ['list', `PagedList<Item<'${name}'>>`] : ['call', `Promise<Data<'${name}'>>`]
  return `${comment(operation)}  ${name}(${inputs.join(', ')}): ${type} {
    return this.#caller.${call}({ ${fields.join(', ')} })
  }
`
}

/** Path parameters are escaped, so that a value cannot address another operation. */
function pathCode(path: string): string {
  if (!path.includes('{')) return `'${path}'`
  return `\`${path.replace(/\{(\w+)\}/g, (_, name: string) => `\${encodeURIComponent(${camel(name)})}`)}\``
}

const camel = (name: string) => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())

/** The summary and the first paragraph of the description. The rest is in the API reference. */
function comment({ summary = '', description = '' }: Operation): string {
  const paragraphs = [summary, description.split('\n\n', 1)[0]!.replace(/\s+/g, ' ')].filter(Boolean)
  const lines = paragraphs.flatMap((paragraph, at) => [
    ...(at > 0 ? [''] : []),
    ...wrapped(`${paragraph.replace(/[^.!?:]$/, '$&.').replaceAll('*/', '*\\/')}`),
  ])
  if (lines.length === 1) return `  /** ${lines[0]} */\n`
  return `  /**\n${lines.map((line) => `   * ${line}`.trimEnd()).join('\n')}\n   */\n`
}

function wrapped(text: string): string[] {
  const lines = ['']
  for (const word of text.split(' ')) {
    if (`${lines.at(-1)} ${word}`.length > lineLengthMax) lines.push(word)
    else lines[lines.length - 1] = `${lines.at(-1)} ${word}`.trim()
  }
  return lines
}

/** Writes the client of the SDK. */
export function writeSdkClient(): void {
  const document: OpenApiDocument = JSON.parse(readFileSync(join(packageRoot, 'docs/openapi.json'), 'utf8'))
  const folder = join(packageRoot, 'sdk/src/generated')
  writeFileSync(join(folder, 'management-client.ts'), managementClientCode(document))
}
