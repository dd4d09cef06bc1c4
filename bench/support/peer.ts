import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { atEnd } from './cleanup.ts'

/** The other side of what is measured, in a process of its own so that it takes no time from us. */
export type Peer = { ports: number[]; count(): Promise<number> }

export async function startPeer(name: 'hello' | 'receiver' | 'smtp-sink', ports = 1): Promise<Peer> {
  const child = fork(fileURLToPath(new URL(`../peers/${name}.js`, import.meta.url)), [String(ports)])
  const [listening] = (await once(child, 'message')) as [{ ports: number[] }]
  atEnd(async () => {
    const ended = once(child, 'exit')
    child.disconnect()
    await ended
  })
  return { ports: listening.ports, count: () => ask(child) }
}

/** How many requests or mails it has taken so far. */
async function ask(child: ChildProcess): Promise<number> {
  const answered = once(child, 'message')
  child.send('count')
  const [{ count }] = (await answered) as [{ count: number }]
  return count
}
