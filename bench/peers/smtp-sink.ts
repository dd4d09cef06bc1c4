import { createServer, type Socket } from 'node:net'
import { servePeer } from '../support/serve-peer.ts'

// A relay that accepts and discards every email.

const greeting = '220 sink.example ESMTP\r\n'
const extensions = '250-sink.example\r\n250-PIPELINING\r\n250-8BITMIME\r\n250 SIZE 10485760\r\n'
const contentEnd = '\r\n.\r\n'
let taken = 0
let last = ''

function serve(socket: Socket): void {
  let text = ''
  let inContent = false
  let lookFrom = 0
  socket.setNoDelay(true).on('error', () => {})
  socket.write(greeting)
  socket.on('data', (chunk: Buffer) => {
    text += chunk.toString('latin1')
    let replies = ''
    for (;;) {
      const mark = inContent ? contentEnd : '\r\n'
      const end = text.indexOf(mark, lookFrom)
      if (end < 0) {
        lookFrom = Math.max(0, text.length - mark.length)
        break
      }
      const line = text.slice(0, end)
      text = text.slice(end + mark.length)
      lookFrom = 0
      if (inContent) {
        taken++
        last = line
        inContent = false
        replies += `250 2.0.0 Ok: queued as ${taken}\r\n`
      } else {
        inContent = line === 'DATA'
        replies += replyTo(line)
      }
    }
    if (replies) socket.write(replies)
  })
}

function replyTo(line: string): string {
  if (line.startsWith('EHLO')) return extensions
  if (line === 'DATA') return '354 Go ahead\r\n'
  if (line === 'QUIT') return '221 Bye\r\n'
  return '250 2.0.0 Ok\r\n'
}

await servePeer(
  () => createServer(serve),
  () => ({ count: taken, last }),
)
