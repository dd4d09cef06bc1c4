import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

export type Received = { headers: IncomingHttpHeaders; body: string }
export type Receiver = AsyncDisposable & { url: string; received: Received[]; answerWith(status: number): void }

/** A customer's endpoint: keeps what it is sent and answers as it is told. */
export async function startReceiver(): Promise<Receiver> {
  const received: Received[] = []
  let status = 200
  const server = createServer(async (request, response) => {
    received.push({ headers: request.headers, body: await text(request) })
    response.writeHead(status).end(status === 200 ? 'thank you' : 'not now')
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks`,
    received,
    answerWith: (next) => {
      status = next
    },
    [Symbol.asyncDispose]: () =>
      new Promise<void>((closed) => {
        server.closeAllConnections()
        server.close(() => closed())
      }),
  }
}
