import type { Example, Operation } from './types.ts'

type Sample = { lang: string; label: string; source: string }
type Credential = 'apiKey' | 'session' | undefined

/** Returns samples of the example that can be copied and run after the credential is set. */
export function codeSamples(method: string, operation: Operation, example: Example, baseUrl: string): Sample[] {
  const url = `${baseUrl.replace(/\/$/, '')}${example.request.path}${queryOf(example)}`
  const credential = credentialOf(operation)
  return [
    { lang: 'Shell', label: 'curl', source: curl(method, url, example, credential) },
    { lang: 'TypeScript', label: 'TypeScript', source: typescript(method, url, example, credential) },
  ]
}

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

function typescript(method: string, url: string, { request, response }: Example, credential: Credential): string {
  const headers = [
    ...(credential === 'apiKey' ? ["'X-Api-Token': env.WAXWING_API_KEY!"] : []),
    ...(credential === 'session' ? ["Authorization: 'Bearer ' + env.WAXWING_TOKEN"] : []),
    ...(request.body === undefined ? [] : ["'Content-Type': 'application/json'"]),
    ...Object.entries(request.headers ?? {}).map(([name, value]) => `'${name}': ${literal(value)}`),
  ]
  const body = request.text === undefined ? request.body : request.text
  const options = [
    ...(method === 'GET' ? [] : [`method: '${method}'`]),
    ...(headers.length > 0 ? [`headers: {\n${headers.map((line) => `    ${line},\n`).join('')}  }`] : []),
    ...(body === undefined
      ? []
      : [`body: ${request.text === undefined ? `JSON.stringify(${literal(body, 1)})` : literal(body)}`]),
  ]
  const call =
    options.length > 0
      ? `await fetch('${url}', {\n${options.map((line) => `  ${line},\n`).join('')}})`
      : `await fetch('${url}')`
  const hasData = typeof response.body === 'object' && response.body !== null && 'data' in response.body
  const imported = credential ? "import { env } from 'node:process'\n\n" : ''
  return `${imported}const response = ${call}\nconst ${hasData ? '{ data }' : 'answer'} = await response.json()\n`
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
    const lines = entries.map(([key, item]) => `${inner}${nameOf(key)}: ${literal(item, depth + 1)},\n`)
    return `{\n${lines.join('')}${outer}}`
  }
  return JSON.stringify(value)
}

const nameOf = (key: string) => (/^[A-Za-z_$][\w$]*$/.test(key) ? key : JSON.stringify(key))
