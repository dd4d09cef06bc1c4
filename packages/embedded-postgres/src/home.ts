import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmod, lchown, lstat, mkdir, mkdtemp, readdir, realpath, stat, symlink } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { EmbeddedFailure } from './failure.ts'
import { lockNameBytes } from './lock.ts'
import { succeeds, type User } from './process.ts'

/** Linux takes 107 bytes for a socket's path, macOS 103. */
const socketPathBytesMax = 103
const systemFolder = '/var/lib/waxwing'
const unprivileged = ['postgres', 'nobody']

export type Home = {
  /** Holds the cluster, its sockets and, if need be, a copy of the binaries. Mode 0700, owned by `user`. */
  directory: string
  socketDirectory: string
  user: User
  note: string | null
}

/** Decides where the database lives and as whom it runs, and makes these directories. */
export async function openHome(dataDir: string): Promise<Home> {
  const isRoot = process.getuid?.() === 0
  const made = await mkdir(resolve(dataDir), { recursive: true })
  const parent = await realpath(dataDir)
  // The database user must get through to its own directory, whatever our umask is.
  if (made && isRoot) await chmod(parent, 0o711)

  const { directory, user } = isRoot ? await openAsRoot(parent) : { directory: await openAsSelf(parent), user: null }
  const socketDirectory = await openSocketDirectory(directory, user)
  return { directory, socketDirectory, user, note: noteOn(directory, parent) }
}

function noteOn(directory: string, parent: string): string | null {
  if (directory === join(parent, 'postgres')) return null
  if (!directory.startsWith(systemFolder)) return `The database is kept in ${directory}, as a link in ${parent} says.`
  return `The database is kept in ${directory}, because only root could enter ${parent} when it was made.`
}

async function openAsSelf(parent: string): Promise<string> {
  await mkdir(join(parent, 'postgres'), { mode: 0o700, recursive: true })
  const directory = await followed(join(parent, 'postgres'))
  const { uid } = await stat(directory)
  if (uid !== process.getuid?.()) {
    throw new EmbeddedFailure(
      `${directory} belongs to another user (id ${uid}): run Waxwing as that user or as root, or set DATA_DIR to another directory.`,
    )
  }
  return directory
}

/**
 * PostgreSQL refuses to run as root, so as root we start it as the user who owns the directory, or give a new one to
 * an unprivileged user. Where that user cannot get to DATA_DIR (a checkout below root's home), the database goes to a
 * system folder, and DATA_DIR/postgres becomes a link to it: so the place stays the same for all later starts.
 */
async function openAsRoot(parent: string): Promise<{ directory: string; user: User }> {
  const place = join(parent, 'postgres')
  if (!(await lstat(place).catch(() => null))) await makePlace(place, parent)
  const directory = await followed(place)

  const owner = await stat(directory)
  const user = owner.uid === 0 ? await unprivilegedUser() : { uid: owner.uid, gid: owner.gid }
  if (owner.uid === 0) await giveTo(directory, user)
  if (!(await succeeds(user, '/bin/sh', '-c', 'cd "$0"', directory))) {
    throw new EmbeddedFailure(
      `The database in ${directory} runs as the user with id ${user.uid}, who can no longer enter it: allow entering every directory above it (chmod o+x).`,
    )
  }
  return { directory, user }
}

async function makePlace(place: string, parent: string): Promise<void> {
  if (await succeeds(await unprivilegedUser(), '/bin/sh', '-c', 'cd "$0"', parent)) {
    await mkdir(place, { mode: 0o700 }).catch(unlessExists)
    return
  }
  await mkdir(systemFolder, { recursive: true })
  await chmod(systemFolder, 0o711)
  // A new name each time: when somebody removes DATA_DIR to begin anew, an old database must not come back.
  const elsewhere = await mkdtemp(join(systemFolder, `${shortHash(parent)}-`))
  await symlink(elsewhere, place).catch(unlessExists)
}

async function followed(place: string): Promise<string> {
  return await realpath(place).catch(() => {
    throw new EmbeddedFailure(
      `${place} points to a directory that is gone: bring it back, or remove the link to begin anew.`,
    )
  })
}

/** The directory itself comes last, so that being killed half-way means that the next start does it again. */
async function giveTo(directory: string, user: { uid: number; gid: number }): Promise<void> {
  for (const entry of await readdir(directory, { withFileTypes: true })) {
    const path = join(directory, entry.name)
    if (entry.isDirectory()) await giveTo(path, user)
    else await lchown(path, user.uid, user.gid)
  }
  await lchown(directory, user.uid, user.gid)
}

async function unprivilegedUser(): Promise<{ uid: number; gid: number }> {
  for (const name of unprivileged) {
    const [uid, gid] = await Promise.all([idOf('-u', name), idOf('-g', name)])
    if (uid && gid) return { uid, gid }
  }
  throw new EmbeddedFailure(
    'PostgreSQL refuses to run as root, and there is no user "postgres" or "nobody": run Waxwing as an ordinary user, or set DATABASE_URL.',
  )
}

function idOf(which: string, name: string): Promise<number | null> {
  return new Promise((resolve) => {
    execFile('id', [which, name], (error, output) => resolve(error ? null : Number(output)))
  })
}

/**
 * Whoever reaches the socket is let in (`trust`), so the directory around it is closed to all other users. It lies in
 * the database's own directory, unless that makes the socket's path too long.
 */
async function openSocketDirectory(directory: string, user: User): Promise<string> {
  const near = join(directory, 'run')
  const fits = Buffer.byteLength(near) + 1 + lockNameBytes <= socketPathBytesMax
  const path = fits ? near : join('/tmp', `waxwing-${shortHash(directory)}`)
  await mkdir(path, { mode: 0o700 }).catch(unlessExists)

  const found = await lstat(path)
  const isOurs = found.uid === process.getuid?.() || found.uid === user?.uid
  // In /tmp somebody else may have been here first, in order to let us put our socket into his directory.
  if (!found.isDirectory() || !isOurs || (found.mode & 0o077) !== 0) {
    throw new EmbeddedFailure(`${path} is open to other users: remove it, or set DATA_DIR to a shorter path.`)
  }
  if (user) await lchown(path, user.uid, user.gid)
  return path
}

function unlessExists(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EEXIST') throw error
}

const shortHash = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 16)
