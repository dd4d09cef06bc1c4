import { createServer, type Socket } from 'node:net'
import { servePeer } from '../support/serve-peer.ts'

// A relay that accepts and discards every email. A distant one answers late, and not always with yes.

const isDistant = process.argv[3] === 'distant'
const answerMs = 20
const emailsPerConnection = 100

const greeting = '220 sink.example ESMTP\r\n'
const extensions = '250-sink.example\r\n250-PIPELINING\r\n250-8BITMIME\r\n250 SIZE 10485760\r\n'
const contentEnd = '\r\n.\r\n'
let taken = 0
let last = ''

function serve(socket: Socket): void {
  let text = ''
  let inContent = false
  let refused = 0
  let carried = 0
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
        carried++
      } else {
        const reply = replyTo(line, refused)
        if (line.startsWith('RCPT')) refused = reply.startsWith('250') ? 0 : 1
        if (line.startsWith('RCPT') && refused) taken++
        inContent = reply.startsWith('354')
        replies += reply
      }
    }
    if (!replies) return
    if (!isDistant) return void socket.write(replies)
    const isSpent = carried >= emailsPerConnection
    if (isSpent) replies += '421 4.7.0 Too many emails on this connection\r\n'
    setTimeout(() => (isSpent ? socket.end(replies) : socket.write(replies)), answerMs)
  })
}

function replyTo(line: string, refused: number): string {
  if (line.startsWith('EHLO')) return extensions
  if (line.startsWith('RCPT') && isDistant) return replyToRecipient()
  if (line === 'DATA') return refused ? '503 5.5.1 No recipients\r\n' : '354 Go ahead\r\n'
  if (line === 'QUIT') return '221 Bye\r\n'
  return '250 2.0.0 Ok\r\n'
}

let recipients = 0
/** Of 100, five are deferred and two rejected. */
function replyToRecipient(): string {
  const number = recipients++ % 100
  if (number % 20 === 7) return '451 4.7.1 Try again later\r\n'
  return number % 50 === 3 ? '550 5.1.1 No such user\r\n' : '250 2.1.5 Ok\r\n'
}

await servePeer(
  () => createServer(serve),
  () => ({ count: taken, last }),
)
