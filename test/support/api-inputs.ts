import { readFileSync } from 'node:fs'
import { request } from 'node:http'
import { inputsOf, type Known, type Schema, sampleOf } from './schema-inputs.ts'
import type { Seeded } from './seeded.ts'

type Operation = {
  requestBody?: { content: Record<string, { schema?: Schema }> }
  parameters?: { name: string; in: string }[]
  security?: Record<string, unknown>[]
}

export type ApiOperation = {
  method: string
  /** With parameters in braces. */
  path: string
  query: string[]
  credential: 'session' | 'apiKey' | undefined
  /** The type and schema of the body, if there is one. */
  body: { type: string; schema: Schema } | undefined
}

/** Operations that the document leaves out, by a documented one that takes the same. */
const undocumented: Record<string, string> = {
  '/emails': '/public/api/v1/emails',
  '/emails/batch': '/public/api/v1/emails/batch',
}
const methods = ['get', 'post', 'put', 'patch', 'delete']

export const document: {
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, Schema> }
} = JSON.parse(readFileSync('docs/openapi.json', 'utf8'))

export const resolve = (schema: Schema): Schema =>
  schema.$ref ? resolve(document.components.schemas[schema.$ref.split('/').at(-1)!]!) : schema

export function operations(): ApiOperation[] {
  const documented = Object.entries(document.paths).flatMap(([path, operationsOfPath]) =>
    Object.entries(operationsOfPath)
      .filter(([method]) => methods.includes(method))
      .map(([method, { requestBody, parameters = [], security = [] }]): ApiOperation => {
        const [type, content] = Object.entries(requestBody?.content ?? {})[0] ?? []
        const credentials = security.flatMap((each) => Object.keys(each))
        return {
          method: method.toUpperCase(),
          path,
          query: parameters.filter((parameter) => parameter.in === 'query').map(({ name }) => name),
          credential: credentials.includes('session')
            ? 'session'
            : credentials.includes('apiKey')
              ? 'apiKey'
              : undefined,
          body: type ? { type, schema: content?.schema ?? {} } : undefined,
        }
      }),
  )
  const others = Object.entries(undocumented).map(([path, same]) => ({
    ...documented.find((each) => each.path === same && each.method === 'POST')!,
    path,
  }))
  return [
    ...documented,
    ...others,
    {
      method: 'POST',
      path: '/mcp',
      query: [],
      credential: 'apiKey',
      body: { type: 'application/json', schema: toolCall },
    },
  ]
}

const toolCall: Schema = {
  type: 'object',
  required: ['jsonrpc', 'id', 'method', 'params'],
  properties: {
    jsonrpc: { const: '2.0' },
    id: { const: 1 },
    method: { const: 'tools/call' },
    params: {
      type: 'object',
      required: ['name', 'arguments'],
      properties: {
        name: { const: 'list_contacts' },
        arguments: { type: 'object', required: ['query'], properties: { query: { type: 'string' } } },
      },
    },
  },
}

export type Sent = { method: string; url: string; headers: Record<string, string>; body?: string | undefined }
const requestMs = 120_000

/** Returns the status and the text of the response. The status is 0 if there was none. */
export function call({ method, url, headers, body }: Sent): Promise<{ status: number; text: string }> {
  return new Promise((resolveWith) => {
    const sent = request(url, { method, headers }, (response) => {
      const parts: Buffer[] = []
      response.on('data', (part: Buffer) => parts.push(part))
      response.once('close', () =>
        resolveWith({ status: response.statusCode ?? 0, text: Buffer.concat(parts).toString() }),
      )
    })
    sent.setTimeout(requestMs, () => sent.destroy())
    sent.once('error', () => resolveWith({ status: 0, text: '' })).end(body)
  })
}

export type ApiInput = { name: string; query?: string; body?: () => string }

const urlLength = 15_000
const csvShapes: [string, string][] = [
  ['lines', 'a@example.com,Ada\n'],
  ['quotes', '"'],
  ['commas', ','],
  ['columns', 'x,'],
  ['line ends', '\n'],
  ['one word', 'x'],
]

/** Inputs of the largest permitted size for an operation. */
export function* apiInputs(
  { body, query }: ApiOperation,
  { known, bytes, random }: { known: Known; bytes: number; random: Seeded },
): Generator<ApiInput> {
  if (body?.type === 'application/json') {
    yield* inputsOf(body.schema, { resolve, known, bytes, random })
    const sample = JSON.stringify(sampleOf(body.schema, resolve, known))
    const space = () => ' '.repeat(bytes - sample.length)
    yield { name: 'white space', body: () => `${sample.slice(0, -1)}${space()}${sample.at(-1)}` }
  } else if (body) {
    for (const [name, text] of csvShapes)
      yield { name, body: () => `email\n${text.repeat(Math.floor((bytes - 6) / text.length))}` }
  }
  if (query.length > 0) {
    const length = Math.floor(urlLength / query.length)
    for (const text of ['x', '%20', '%22', '%25', 'a,', '%5B', '9', '%F0%9F%99%82', '-'])
      yield {
        name: `query of ${text}`,
        query: query
          .map((name) => `${name}=${text.repeat(Math.floor((length - name.length - 2) / text.length))}`)
          .join('&'),
      }
    yield { name: 'many parameters', query: `${query[0]}=1&`.repeat(Math.floor(urlLength / (query[0]!.length + 3))) }
    yield { name: 'unknown parameters', query: Array.from({ length: 1_500 }, (_, at) => `q${at}=1`).join('&') }
  }
}
