// Generates the types and the management client of the SDK from docs/openapi.json, into src/generated. Plain JavaScript, because it
// runs before anything is compiled. Does nothing if neither the document nor this file has changed.
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

const root = join(import.meta.dirname, '..')
const folder = join(import.meta.dirname, 'src/generated')
const source = join(root, 'docs/openapi.json')

const lineLengthMax = 116

/** Operations for mail providers and for tools that read the OpenAPI document, and those that respond with a file. */
const isForOthers = (operation) =>
  operation.tags?.includes('Providers') || operation.tags?.includes('Documentation') || isFile(operation)
const isFile = ({ responses }) =>
  responses[200]?.content !== undefined && !('application/json' in responses[200].content)
/** `Waxwing` has the operations of the public API. */
const isPublicApi = (path) => path.startsWith('/public/')

/** Operations that send POST and can be repeated without a second effect. */
const repeatable = [
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

/** Returns the code of the management client: one method for each operation. */
function managementClientCode(document) {
  const methods = Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.entries(operations)
      .filter(([, operation]) => !isPublicApi(path) && !isForOthers(operation))
      .map(([method, operation]) => methodCode(method.toUpperCase(), path, operation)),
  )
  const names = Object.values(document.paths).flatMap((operations) =>
    Object.values(operations).map(({ operationId }) => operationId),
  )
  const unknown = repeatable.filter((name) => !names.includes(name))
  if (unknown.length > 0) throw new Error(`These operations do not exist: ${unknown.join(', ')}`)
  return `import { ManagementCaller, type ManagementOptions, type RequestOptions } from '../management-caller.ts'
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

function methodCode(method, path, operation) {
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
function pathCode(path) {
  if (!path.includes('{')) return `'${path}'`
  return `\`${path.replace(/\{(\w+)\}/g, (_, name) => `\${encodeURIComponent(${camel(name)})}`)}\``
}

const camel = (name) => name.replace(/_([a-z])/g, (_, letter) => letter.toUpperCase())

/** The summary and the first paragraph of the description. The rest is in the API reference. */
function comment({ summary = '', description = '' }) {
  const paragraphs = [summary, description.split('\n\n', 1)[0].replace(/\s+/g, ' ')].filter(Boolean)
  const lines = paragraphs.flatMap((paragraph, at) => [
    ...(at > 0 ? [''] : []),
    ...wrapped(`${paragraph.replace(/[^.!?:]$/, '$&.').replaceAll('*/', '*\\/')}`),
  ])
  if (lines.length === 1) return `  /** ${lines[0]} */\n`
  return `  /**\n${lines.map((line) => `   * ${line}`.trimEnd()).join('\n')}\n   */\n`
}

function wrapped(text) {
  const lines = ['']
  for (const word of text.split(' ')) {
    if (`${lines.at(-1)} ${word}`.length > lineLengthMax) lines.push(word)
    else lines[lines.length - 1] = `${lines.at(-1)} ${word}`.trim()
  }
  return lines
}

/** Envelopes, which the client opens, and errors, which it throws. */
const isInternal = (name, schema) =>
  /(Response|List|Page)$/.test(name) && schema.allOf !== undefined
    ? true
    : ['Success', 'Page', 'Error', 'ErrorDetail', 'FieldProblem', 'Problem'].includes(name)

/** Returns the names of all schemas that are used below a value. */
function namesBelow(value, schemas, found = new Set()) {
  if (typeof value !== 'object' || value === null) return found
  for (const [key, part] of Object.entries(value)) {
    const name = key === '$ref' && part.startsWith('#/components/schemas/') ? part.split('/').at(-1) : undefined
    if (name === undefined) namesBelow(part, schemas, found)
    else if (!found.has(name)) namesBelow(schemas[name], schemas, found.add(name))
  }
  return found
}

/** Returns the exports of the types of the API. Those of webhook events are in events.ts. */
function modelCode({ paths, components: { schemas } }) {
  const names = [...namesBelow(paths, { ...schemas, WebhookEvent: {} })]
    .filter((name) => name !== 'WebhookEvent' && !isInternal(name, schemas[name]))
    .sort()
  const lines = names.map((name) => {
    const { description } = schemas[name]
    return `${description ? `/** ${description.replaceAll('*/', '*\\/')} */\n` : ''}export type ${name} = Schemas['${name}']\n`
  })
  return `import type { components } from './schema.ts'\n\ntype Schemas = components['schemas']\n\n${lines.join('')}`
}

async function schemaCode() {
  // A dependency of the web app only, because it needs another version of TypeScript than the root.
  const { default: openapiTS, astToString } = createRequire(join(root, 'web/package.json'))('openapi-typescript')
  return astToString(await openapiTS(pathToFileURL(source), { silent: true }))
}

const document = readFileSync(source, 'utf8')
const version = createHash('sha256')
  .update(document)
  .update(readFileSync(import.meta.filename))
  .digest('hex')
const note = `// Generated from docs/openapi.json by sdk/generate.mjs. Version ${version.slice(0, 16)}\n\n`
// Written last, so that an interrupted run is repeated.
const last = join(folder, 'management-client.ts')

if (!existsSync(last) || !readFileSync(last, 'utf8').startsWith(note)) {
  const parsed = JSON.parse(document)
  mkdirSync(folder, { recursive: true })
  const write = (name, code) => {
    // Renamed when complete, because other processes may read it.
    const next = join(folder, `${name}.${process.pid}.tmp`)
    writeFileSync(next, note + code)
    renameSync(next, join(folder, name))
  }
  write('schema.ts', await schemaCode())
  write('models.ts', modelCode(parsed))
  write('management-client.ts', managementClientCode(parsed))
}
