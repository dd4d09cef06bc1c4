import { createServer, type TLSSocket } from 'node:tls'
import { certificateOf } from '../support/certificates.ts'
import { servePeer } from '../support/serve-peer.ts'

// A webhook endpoint that answers 200 to every POST as cheaply as possible.

const answer = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'
const identity = { cert: certificateOf('webhook-receiver.pem'), key: certificateOf('webhook-receiver-key.pem') }
let taken = 0

function serve(socket: TLSSocket): void {
  let text = ''
  socket.setNoDelay(true).on('error', () => {})
  socket.on('data', (chunk: Buffer) => {
    text += chunk.toString('latin1')
    const end = text.indexOf('\r\n\r\n')
    const length = end < 0 ? undefined : /\r\ncontent-length: (\d+)/i.exec(text.slice(0, end))?.[1]
    if (end < 0 || text.length < end + 4 + Number(length ?? 0)) return
    text = ''
    taken++
    socket.write(answer)
  })
}

await servePeer(
  () => createServer(identity, serve),
  () => ({ count: taken }),
)
