import { type Example, isFile, type Operation, typedValue } from '../../src/platform/http/types.ts'

type Sample = { lang: string; label: string; source: string }
/** Objects that fit are written on one line. */
const lineMax = 60

type Credential = 'apiKey' | 'session' | undefined
type SampleContext = { baseUrl: string; credential: Credential; isPublicApi: boolean }

/** Returns samples of the example that can be copied and run after the credential is set. */
export function codeSamples(method: string, operation: Operation, example: Example, baseUrl: string): Sample[] {
  const url = `${baseUrl.replace(/\/$/, '')}${example.request.path}${queryOf(example)}`
  const credential = credentialOf(operation)
  const isPublicApi = example.request.path.startsWith('/public/')
  const shell = { lang: 'Shell', label: 'curl', source: curl(method, url, example, credential) }
  if (isForOthers(operation)) return [shell]
  const source = typescript(operation, example, { baseUrl, credential, isPublicApi })
  return [shell, { lang: 'TypeScript', label: 'TypeScript', source }]
}

/** Operations for mail providers and for tools, and those that respond with a file, which the SDK does not have. */
const isForOthers = (operation: Operation) =>
  operation.tags?.includes('Providers') || operation.tags?.includes('Documentation') || isFile(operation)

const credentialOf = ({ security = [] }: Operation): Credential =>
  security.some((scheme) => 'apiKey' in scheme) ? 'apiKey' : security.length > 0 ? 'session' : undefined

function queryOf({ request: { query } }: Example): string {
  return query ? `?${new URLSearchParams(query)}` : ''
}

function curl(method: string, url: string, { request }: Example, credential: Credential): string {
  const headers = {
    ...(credential === 'apiKey' && { 'X-Api-Token': '$WAXWING_API_KEY' }),
    ...(credential === 'session' && { Authorization: 'Bearer $WAXWING_TOKEN' }),
    ...(request.body !== undefined && { 'Content-Type': 'application/json' }),
    ...request.headers,
  }
  const body = request.text ?? (request.body === undefined ? undefined : JSON.stringify(request.body, null, 2))
  const parts = [
    `curl ${method === 'GET' ? '' : `-X ${method} `}${shellText(url)}`,
    ...Object.entries(headers).map(([name, value]) => `  -H ${headerText(name, value)}`),
    ...(body === undefined ? [] : [`  ${request.text === undefined ? '-d' : '--data-binary'} ${shellText(body)}`]),
  ]
  return parts.join(' \\\n')
}

const shellText = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`
/** In double quotes if the shell has to insert a credential. */
const headerText = (name: string, value: string) =>
  value.includes('$WAXWING_') ? `"${name}: ${value}"` : shellText(`${name}: ${value}`)

/** Methods of the SDK with another name than their operation. */
const methodNames: Readonly<Record<string, string>> = {
  readEvents: 'events.list',
  sendEmail: 'emails.send',
  sendEmails: 'emails.batch',
  getEmail: 'emails.get',
  rescheduleEmail: 'emails.reschedule',
  cancelEmailForAll: 'emails.cancel',
}

/** Uses the SDK, whose methods have the names of the operations. Operations that a client does not call have none. */
function typescript(
  operation: Operation,
  example: Example,
  { baseUrl, credential, isPublicApi }: SampleContext,
): string {
  const { operationId: name, parameters = [] } = operation
  const { response } = example
  const client = isPublicApi ? 'Waxwing' : 'WaxwingManagement'
  const variable = credential === 'apiKey' ? 'env.WAXWING_API_KEY!' : 'env.WAXWING_TOKEN!'
  const secret = `${isPublicApi ? 'apiKey' : 'token'}: ${variable}`
  const options = [`baseUrl: ${literal(baseUrl)}`, ...(credential ? [secret] : [])].join(', ')
  const args = isPublicApi ? publicArguments(operation, example) : managementArguments(operation, example)
  const call = `waxwing.${methodNames[name] ?? name}(${args.join(', ')})`
  const isPaged = parameters.some((parameter) => parameter.name === 'cursor')
  const isVoid = (response.body as { data?: unknown }).data === null
  return [
    ...(credential ? ["import { env } from 'node:process'"] : []),
    `import { ${client} } from '@waxwing/sdk'`,
    '',
    `const waxwing = new ${client}({ ${options} })`,
    '',
    isPaged
      ? `for await (const item of ${call}) console.log(item)`
      : isVoid
        ? `await ${call}`
        : `const result = await ${call}`,
    '',
  ].join('\n')
}

/** Path parameters first, then the body, then the query. */
function managementArguments(operation: Operation, { request }: Example): string[] {
  const { parameters = [] } = operation
  const inPath = parameters.filter((parameter) => parameter.in === 'path').map(({ name }) => request.params![name]!)
  return [...inPath, request.text ?? request.body, request.query && typedQuery(operation, request.query)]
    .filter((value) => value !== undefined)
    .map((value) => literal(value))
}

/** The recorded query with numbers and booleans instead of their text. */
function typedQuery({ parameters = [] }: Operation, query: Record<string, string>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(query).map(([name, text]) => [
      name,
      typedValue(
        parameters.find((parameter) => parameter.in === 'query' && parameter.name === name),
        text,
      ),
    ]),
  )
}

/** The public API has the parameters of the path or one argument with fields in camel case, and options. */
function publicArguments(operation: Operation, { request }: Example): string[] {
  const input = request.body ?? (request.query && typedQuery(operation, request.query))
  const key = request.headers?.['Idempotency-Key']
  return [
    ...Object.values(request.params ?? {}).map((value) => literal(value)),
    ...(input === undefined ? [] : [literal(inCamelCase(input))]),
    ...(key === undefined ? [] : [literal({ idempotencyKey: key })]),
  ]
}

/** Renames fields, except those in free-form objects of the customer. */
function inCamelCase(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inCamelCase)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [
      key.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase()),
      key === 'context' || key === 'attributes' ? item : inCamelCase(item),
    ]),
  )
}

/** Returns a value as a TypeScript literal, indented below the line it starts in. */
function literal(value: unknown, depth = 0): string {
  const inner = '  '.repeat(depth + 1)
  const outer = '  '.repeat(depth)
  if (typeof value === 'string')
    return value.includes("'") || value.includes('\n') ? JSON.stringify(value) : `'${value.replaceAll('\\', '\\\\')}'`
  if (Array.isArray(value)) {
    if (value.every((item) => typeof item !== 'object')) return `[${value.map((item) => literal(item)).join(', ')}]`
    return `[\n${value.map((item) => `${inner}${literal(item, depth + 1)},\n`).join('')}${outer}]`
  }
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value)
    if (entries.length === 0) return '{}'
    if (entries.every(([, item]) => typeof item !== 'object')) {
      const line = `{ ${entries.map(([key, item]) => `${nameOf(key)}: ${literal(item)}`).join(', ')} }`
      if (line.length <= lineMax) return line
    }
    const lines = entries.map(([key, item]) => `${inner}${nameOf(key)}: ${literal(item, depth + 1)},\n`)
    return `{\n${lines.join('')}${outer}}`
  }
  return JSON.stringify(value)
}

const nameOf = (key: string) => (/^[A-Za-z_$][\w$]*$/.test(key) ? key : JSON.stringify(key))
