import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readdir, rename, rm } from 'node:fs/promises'
import { connect, createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

const contendAtMostMs = 15_000
const pauseAtMostMs = 100
const pauseDoublingsMax = 5

/** The maximum length of a lock name, which must fit into a socket path like PostgreSQL's own `.s.PGSQL.5432`. */
export const lockNameBytes = 'owner-4194304-12345678'.length

export type Lock = { kind: 'held'; release(): Promise<void> } | { kind: 'taken'; byPid: number }

/**
 * Makes this process the only owner of a directory. The lock is a listening socket, so it is released however the owner
 * exits, and `connect` detects whether the owner is alive, even if it is suspended or in another container.
 *
 * Each process first creates its own socket and then looks for others, so of two processes that start at the same time
 * at least one sees the other. Names are never reused, so a stale socket can be removed without a race.
 */
export async function takeLock(directory: string): Promise<Lock> {
  const deadline = Date.now() + contendAtMostMs
  for (let tries = 0; ; tries++) {
    const claim = await createClaim(directory)
    const others = claim ? await findOthers(directory, claim.name) : []
    const owner = others.find((name) => name.startsWith('owner-'))
    if (claim && others.length === 0) return await claim.own()
    await claim?.withdraw()
    if (owner || Date.now() > deadline) return { kind: 'taken', byPid: pidIn(owner ?? others[0] ?? '') }
    // Another process is starting at the same time. Random pauses let one of them win. They grow, because on a busy
    // machine claims take longer and overlap more often.
    await sleep(Math.random() * pauseAtMostMs * 2 ** Math.min(tries, pauseDoublingsMax))
  }
}

/** Returns undefined if the owner removed our socket before it was renamed. */
async function createClaim(directory: string) {
  const id = `${process.pid}-${randomBytes(4).toString('hex')}`
  const server = createServer((socket) => socket.destroy())
  server.unref()
  // Between bind and listen a socket looks stale, so it gets the name that others check only afterwards.
  server.listen(join(directory, `new-${id}`))
  await once(server, 'listening')

  let name = `try-${id}`
  const withdraw = async () => {
    const closed = new Promise((resolve) => server.close(resolve))
    await rm(join(directory, name), { force: true })
    await closed
  }
  const own = async (): Promise<Lock> => {
    await rename(join(directory, name), join(directory, `owner-${id}`))
    name = `owner-${id}`
    for (const left of await readdir(directory)) {
      if (left.startsWith('new-')) await rm(join(directory, left), { force: true })
    }
    return { kind: 'held', release: withdraw }
  }

  try {
    await rename(join(directory, `new-${id}`), join(directory, name))
    return { name, withdraw, own }
  } catch {
    await withdraw()
    return undefined
  }
}

async function findOthers(directory: string, own: string): Promise<string[]> {
  const living: string[] = []
  for (const name of await readdir(directory)) {
    if (name === own || !/^(try|owner)-/.test(name)) continue
    if (await isListening(join(directory, name))) living.push(name)
    else await rm(join(directory, name), { force: true })
  }
  return living
}

/** Only a refused connection proves that no process listens: a missing name may just have been renamed to `owner-`. */
function isListening(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path)
    socket.once('connect', () => resolve(true))
    socket.once('error', (error: NodeJS.ErrnoException) => resolve(error.code !== 'ECONNREFUSED'))
    socket.once('close', () => socket.destroy())
    socket.once('connect', () => socket.destroy())
  })
}

const pidIn = (name: string) => Number(name.split('-')[1] ?? 0)
