import { request } from 'node:http'
import { connect } from 'node:net'
import type { Victim } from '../victim.ts'
import type { FuzzCase, HttpCase } from './cases.ts'

const timeoutMs = 120_000
const socketMs = 5_000

/**
 * Returns the status of an HTTP case, or 0 if the connection was closed without a response and for other kinds of
 * cases.
 */
export function runCase(victim: Victim, fuzzCase: FuzzCase): Promise<number> {
  switch (fuzzCase.kind) {
    case 'http':
      return callHttp(victim, fuzzCase)
    case 'smtp':
      return talk(
        victim.bouncePort,
        fuzzCase.lines.map((line) => `${line}\r\n`),
      )
    case 'raw':
      return talk(Number(new URL(victim.url).port), [fuzzCase.bytes])
  }
}

function callHttp({ url }: Victim, { method, path, headers, body }: HttpCase): Promise<number> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url)
    // The path is sent unchanged, even if the URL class would normalize it.
    const sent = request({ host: hostname, port, method, path, headers }, (response) => {
      response.once('error', () => resolve(0))
      response.resume().once('close', () => resolve(response.statusCode ?? 0))
    })
    sent.setTimeout(timeoutMs, () => {
      reject(new Error(`No response within ${timeoutMs} ms`))
      sent.destroy()
    })
    sent.once('error', () => resolve(0)).end(body)
  })
}

/** Writes the pieces, one after each response, and waits until the peer closes the connection or is silent. */
function talk(port: number, pieces: string[]): Promise<number> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    const left = [...pieces]
    let answer = ''
    const next = () => {
      const piece = left.shift()
      if (piece === undefined) socket.end()
      else socket.write(Buffer.from(piece, 'latin1'))
    }
    socket.setTimeout(socketMs, () => socket.destroy())
    socket.on('data', (chunk) => {
      answer += chunk.toString('latin1')
      next()
    })
    socket.on('error', () => {})
    socket.once('close', () => resolve(Number(/^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1] ?? 0)))
    if (pieces.length === 1) next()
  })
}

const triesMax = 150

/** Returns the smallest request found that still fails, by removing headers, query, fields, items and characters. */
export async function shrink(fuzzCase: FuzzCase, fails: (smaller: FuzzCase) => Promise<boolean>): Promise<FuzzCase> {
  if (fuzzCase.kind !== 'http') return fuzzCase
  let smallest = fuzzCase
  for (let tries = 0, found = true; found && tries < triesMax; ) {
    found = false
    for (const smaller of smallerThan(smallest)) {
      if (++tries > triesMax) break
      if (!(await fails(smaller))) continue
      smallest = smaller
      found = true
      break
    }
  }
  return smallest
}

function* smallerThan(http: HttpCase): Generator<HttpCase> {
  const [path, query] = http.path.split('?') as [string, string | undefined]
  if (query !== undefined) {
    const pairs = query.split('&')
    for (let i = 0; i < pairs.length; i++)
      yield { ...http, path: [path, pairs.toSpliced(i, 1).join('&')].filter(Boolean).join('?') }
  }
  for (const name of Object.keys(http.headers)) {
    const { [name]: _dropped, ...headers } = http.headers
    yield { ...http, headers }
  }
  const { body } = http
  if (!body) return
  let value: unknown
  try {
    value = JSON.parse(body)
  } catch {
    for (const [from, to] of [
      [0, body.length / 2],
      [body.length / 2, body.length],
    ])
      yield { ...http, body: body.slice(from, to) }
    return
  }
  for (const smaller of smallerValues(value)) yield { ...http, body: JSON.stringify(smaller) }
}

function* smallerValues(value: unknown): Generator<unknown> {
  if (typeof value === 'string' && value.length > 1) {
    const half = Math.floor(value.length / 2)
    yield value.slice(0, half)
    yield value.slice(half)
    if (value.length < 30) for (let i = 0; i < value.length; i++) yield value.slice(0, i) + value.slice(i + 1)
  } else if (Array.isArray(value)) {
    const half = Math.ceil(value.length / 2)
    if (value.length > 1) yield value.slice(0, half)
    if (value.length > 0) yield value.slice(half === value.length ? 1 : half)
    for (let i = 0; i < Math.min(value.length, 5); i++)
      for (const smaller of smallerValues(value[i])) yield value.with(i, smaller)
  } else if (typeof value === 'object' && value !== null) {
    for (const name of Object.keys(value)) {
      const { [name]: _dropped, ...rest } = value as Record<string, unknown>
      yield rest
    }
    for (const [name, field] of Object.entries(value))
      for (const smaller of smallerValues(field)) yield { ...value, [name]: smaller }
  }
}
