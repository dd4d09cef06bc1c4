import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { connectToDatabase } from './database-socket.ts'
import type { TestDb } from './test-db.ts'

export type StartupRecorder = AsyncDisposable & {
  connection: TestDb['connection']
  /** The parameters in the first packet of each connection. */
  startups: Record<string, string>[]
}

/** The start of the message with the process id: its type and its length. */
const keyMessage = Buffer.from([0x4b, 0, 0, 0, 12])

function withOwnProcessId(packet: Buffer): Buffer {
  const at = packet.indexOf(keyMessage)
  if (at === -1) return packet
  const processIdAt = at + keyMessage.length
  packet.writeInt32BE(packet.readInt32BE(processIdAt) + 1, processIdAt)
  return packet
}

/** Length of the packet and protocol version, four bytes each. */
const headBytes = 8

/**
 * A proxy before a database that records which parameters connections start with. With `asPooler` it answers with a
 * process id of its own, as connection poolers do.
 */
export async function startStartupRecorder(testDb: TestDb, { asPooler = false } = {}): Promise<StartupRecorder> {
  const target = testDb.connection as { host: string; port: number }
  const startups: Record<string, string>[] = []
  const server = createServer((near) => {
    const far = connectToDatabase(target)
    near.once('data', (packet) => {
      const texts = packet.subarray(headBytes).toString().split('\0')
      startups.push(
        Object.fromEntries(
          texts.flatMap((text, index) => (index % 2 === 0 && text ? [[text, texts[index + 1] ?? '']] : [])),
        ),
      )
    })
    near.pipe(far)
    far.on('data', (packet) => near.write(asPooler ? withOwnProcessId(packet) : packet))
    far.on('end', () => near.end())
    for (const socket of [near, far]) socket.on('error', () => {})
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    connection: { ...testDb.connection, host: '127.0.0.1', port } as TestDb['connection'],
    startups,
    [Symbol.asyncDispose]: async () => {
      server.close()
    },
  }
}
