import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { atEnd } from './cleanup.ts'

/** The peer of the measured service, in a separate process. */
export type Peer = {
  ports: number[]
  /** The number of requests or emails received so far. */
  count(): Promise<number>
  /** The content of the last email. */
  last(): Promise<string>
}

export async function startPeer(
  name: 'hello' | 'receiver' | 'smtp-sink',
  ports = 1,
  { distant = false } = {},
): Promise<Peer> {
  const child = fork(fileURLToPath(new URL(`../peers/${name}.js`, import.meta.url)), [
    String(ports),
    ...(distant ? ['distant'] : []),
  ])
  const [listening] = (await once(child, 'message')) as [{ ports: number[] }]
  atEnd(async () => {
    const ended = once(child, 'exit')
    if (child.connected) child.disconnect()
    await ended
  })
  return {
    ports: listening.ports,
    count: async () => (await ask(child)).count,
    last: async () => (await ask(child)).last ?? '',
  }
}

async function ask(child: ChildProcess): Promise<{ count: number; last?: string }> {
  const answered = once(child, 'message')
  child.send('figures')
  const [figures] = (await answered) as [{ count: number; last?: string }]
  return figures
}
