import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import type { Round } from './rounds.ts'

// The load runs on the measured machine, so this client does as little as possible: it writes prepared bytes and
// searches for the end of the response. The reference is measured with the same client.

const headEnd = Buffer.from('\r\n\r\n')
const answerWithinMs = 30_000

type Line = { socket: Socket; sentAt: number; busy: boolean; left: Buffer | undefined }

/** Keep-alive connections with one request at a time on each. */
export class HttpLoad {
  readonly #lines: Line[] = []
  #next: () => Buffer = () => Buffer.alloc(0)
  #endsAt = 0
  #answered = 0
  #latenciesMs: number[] = []
  #fault: Error | undefined
  #onIdle: () => void = () => {}

  static async open(port: number, connections: number): Promise<HttpLoad> {
    const load = new HttpLoad()
    const sockets = Array.from({ length: connections }, () => connect({ port, host: '127.0.0.1', noDelay: true }))
    await Promise.all(sockets.map((socket) => once(socket, 'connect')))
    for (const socket of sockets) load.#add(socket)
    return load
  }

  /** Keeps every connection busy for this time. Fails if a response is not 200 or 302. */
  async run(next: () => Buffer, ms: number): Promise<Round> {
    this.#next = next
    this.#answered = 0
    this.#latenciesMs = []
    const startedAt = performance.now()
    this.#endsAt = startedAt + ms
    const idle = new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error('No response.')), ms + answerWithinMs)
      this.#onIdle = () => {
        clearTimeout(timer)
        resolve()
      }
    })
    for (const line of this.#lines) this.#send(line)
    await idle
    if (this.#fault) throw this.#fault
    return {
      operations: this.#answered,
      seconds: (performance.now() - startedAt) / 1000,
      latenciesMs: this.#latenciesMs,
    }
  }

  close(): void {
    for (const { socket } of this.#lines) socket.destroy()
  }

  #add(socket: Socket): void {
    const line: Line = { socket, sentAt: 0, busy: false, left: undefined }
    this.#lines.push(line)
    socket.on('data', (chunk: Buffer) => this.#read(line, chunk))
    socket.on('error', (error) => {
      this.#fault ??= error
      this.#rest(line)
    })
    socket.on('close', () => {
      if (line.busy) this.#fault ??= new Error('The connection was closed without a response.')
      this.#rest(line)
    })
  }

  #send(line: Line): void {
    line.busy = true
    line.sentAt = performance.now()
    line.socket.write(this.#next())
  }

  #read(line: Line, chunk: Buffer): void {
    const bytes = line.left ? Buffer.concat([line.left, chunk]) : chunk
    const head = bytes.indexOf(headEnd)
    const text = head < 0 ? '' : bytes.toString('latin1', 0, head)
    const length = /\r\ncontent-length: (\d+)/i.exec(text)?.[1]
    if (head < 0 || bytes.length < head + headEnd.length + Number(length ?? 0)) {
      line.left = bytes
      return
    }
    line.left = undefined
    const status = text.slice(9, 12)
    if (status !== '200' && status !== '302')
      this.#fault ??= new Error(`Unexpected response: ${bytes.toString('latin1', 0, 1500)}`)
    const now = performance.now()
    this.#answered++
    this.#latenciesMs.push(now - line.sentAt)
    if (now < this.#endsAt && !this.#fault) this.#send(line)
    else this.#rest(line)
  }

  #rest(line: Line): void {
    line.busy = false
    if (this.#lines.every(({ busy }) => !busy)) this.#onIdle()
  }
}

/** Returns a complete request as bytes. */
export function httpRequest(
  method: string,
  path: string,
  headers: Record<string, string> = {},
  body: string | undefined = undefined,
): Buffer {
  const all: Record<string, string> = { host: '127.0.0.1', ...headers }
  if (body !== undefined) {
    all['content-type'] = 'application/json'
    all['content-length'] = String(Buffer.byteLength(body))
  }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  return Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${body ?? ''}`)
}

/** Repeats the requests in their order. */
export function inTurn(requests: Buffer[]): () => Buffer {
  let next = 0
  return () => {
    if (next === requests.length) next = 0
    return requests[next++]!
  }
}
