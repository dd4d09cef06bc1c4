import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connectToDatabase } from './database-socket.ts'
import type { TestDb } from './test-db.ts'

export type DatabaseProxy = AsyncDisposable & {
  connection: TestDb['connection']
  /** Closes all connections and refuses new ones, like a database that is stopped. */
  cut(): Promise<void>
  /** Keeps all connections open but forwards nothing, like a network that drops packets. */
  hang(): void
  heal(): Promise<void>
}

/** A proxy between a service and its database that can simulate outages. */
export async function startDatabaseProxy(target: { host: string; port: number }): Promise<DatabaseProxy> {
  const folder = mkdtempSync(join(tmpdir(), 'wxp-'))
  const path = join(folder, `.s.PGSQL.${target.port}`)
  const sockets = new Set<Socket>()
  let hangs = false

  const server = createServer((near) => {
    const far = connectToDatabase(target)
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from)
      from.on('data', (chunk) => to.write(chunk))
      if (hangs) from.pause()
      from.on('error', () => {})
      from.on('close', () => {
        sockets.delete(from)
        to.destroy()
      })
    }
  })
  const listen = () => new Promise<void>((resolve) => server.listen(path, resolve))
  const cut = async () => {
    for (const socket of sockets) socket.destroy()
    if (server.listening) await new Promise((resolve) => server.close(resolve))
  }
  await listen()
  return {
    connection: { ...target, host: folder } as TestDb['connection'],
    cut,
    hang: () => {
      hangs = true
      for (const socket of sockets) socket.pause()
    },
    heal: async () => {
      hangs = false
      for (const socket of sockets) socket.resume()
      if (!server.listening) await listen()
    },
    [Symbol.asyncDispose]: async () => {
      await cut()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
