import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmod, lchown, lstat, mkdir, mkdtemp, readdir, realpath, stat, symlink } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { EmbeddedFailure } from './failure.ts'
import { lockNameBytes } from './lock.ts'
import { succeeds, type User } from './process.ts'

/** Linux allows 107 bytes for the path of a socket, macOS 103. */
const socketPathBytesMax = 103
const systemFolder = '/var/lib/waxwing'
const unprivileged = ['postgres', 'nobody']

export type Home = {
  /** Contains the cluster, its sockets and, if necessary, a copy of the binaries. Mode 0700, owned by `user`. */
  directory: string
  socketDirectory: string
  user: User
  note: string | null
}

/** Chooses the directory and user of the database, and creates its directories. Throws `EmbeddedFailure`. */
export async function openHome(dataDir: string): Promise<Home> {
  const isRoot = process.getuid?.() === 0
  const made = await mkdir(resolve(dataDir), { recursive: true })
  const parent = await realpath(dataDir)
  // The database user must be able to reach its own directory, whatever our umask is.
  if (made && isRoot) await chmod(parent, 0o711)

  const { directory, user } = isRoot ? await openAsRoot(parent) : { directory: await openAsSelf(parent), user: null }
  const socketDirectory = await openSocketDirectory(directory, user)
  return { directory, socketDirectory, user, note: noteOn(directory, parent) }
}

function noteOn(directory: string, parent: string): string | null {
  if (directory === join(parent, 'postgres')) return null
  if (!directory.startsWith(systemFolder))
    return `The database is stored in ${directory}, to which a link in ${parent} points.`
  return `The database is stored in ${directory}, because only root could access ${parent} when it was created.`
}

async function openAsSelf(parent: string): Promise<string> {
  await mkdir(join(parent, 'postgres'), { mode: 0o700, recursive: true })
  const directory = await resolveLink(join(parent, 'postgres'))
  const { uid } = await stat(directory)
  if (uid !== process.getuid?.()) {
    throw new EmbeddedFailure(
      `${directory} belongs to another user (id ${uid}). Run Waxwing as that user or as root, or set DATA_DIR to another directory.`,
    )
  }
  return directory
}

/**
 * PostgreSQL does not run as root. As root, it is started as the owner of the directory; a new directory is owned by an
 * unprivileged user. If that user cannot access DATA_DIR (for example below root's home), the database is stored in a
 * system directory and DATA_DIR/postgres is a link to it, so that later starts find it.
 */
async function openAsRoot(parent: string): Promise<{ directory: string; user: User }> {
  const path = join(parent, 'postgres')
  if (!(await lstat(path).catch(() => null))) await createDirectory(path, parent)
  const directory = await resolveLink(path)

  const owner = await stat(directory)
  const user = owner.uid === 0 ? await unprivilegedUser() : { uid: owner.uid, gid: owner.gid }
  if (owner.uid === 0) await changeOwner(directory, user)
  if (!(await succeeds(user, '/bin/sh', '-c', 'cd "$0"', directory))) {
    throw new EmbeddedFailure(
      `The database in ${directory} runs as the user with id ${user.uid}, who can no longer access it. Allow access to every parent directory (chmod o+x).`,
    )
  }
  return { directory, user }
}

async function createDirectory(path: string, parent: string): Promise<void> {
  if (await succeeds(await unprivilegedUser(), '/bin/sh', '-c', 'cd "$0"', parent)) {
    await mkdir(path, { mode: 0o700 }).catch(unlessExists)
    return
  }
  await mkdir(systemFolder, { recursive: true })
  await chmod(systemFolder, 0o711)
  // A new name each time: after DATA_DIR was deleted, an old database must not be used again.
  const elsewhere = await mkdtemp(join(systemFolder, `${shortHash(parent)}-`))
  await symlink(elsewhere, path).catch(unlessExists)
}

async function resolveLink(path: string): Promise<string> {
  return await realpath(path).catch(() => {
    throw new EmbeddedFailure(
      `${path} points to a directory that does not exist. Restore it, or delete the link to start with an empty database.`,
    )
  })
}

/** Changes the directory itself last, so that the next start repeats this if the process is killed. */
async function changeOwner(directory: string, user: { uid: number; gid: number }): Promise<void> {
  for (const entry of await readdir(directory, { withFileTypes: true })) {
    const path = join(directory, entry.name)
    if (entry.isDirectory()) await changeOwner(path, user)
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
    'PostgreSQL does not run as root, and there is no user "postgres" or "nobody". Run Waxwing as an ordinary user, or set DATABASE_URL.',
  )
}

function idOf(which: string, name: string): Promise<number | null> {
  return new Promise((resolve) => {
    execFile('id', [which, name], (error, output) => resolve(error ? null : Number(output)))
  })
}

/**
 * Connections through the socket are not authenticated (`trust`), so other users must have no access to its directory.
 * It is in the database's own directory, unless the path of the socket would be too long.
 */
async function openSocketDirectory(directory: string, user: User): Promise<string> {
  const near = join(directory, 'run')
  const fits = Buffer.byteLength(near) + 1 + lockNameBytes <= socketPathBytesMax
  const path = fits ? near : join('/tmp', `waxwing-${shortHash(directory)}`)
  await mkdir(path, { mode: 0o700 }).catch(unlessExists)

  const found = await lstat(path)
  const isOurs = found.uid === process.getuid?.() || found.uid === user?.uid
  // In /tmp, another user may have created the directory first to gain access to the socket.
  if (!found.isDirectory() || !isOurs || (found.mode & 0o077) !== 0) {
    throw new EmbeddedFailure(`${path} is accessible to other users. Delete it, or set DATA_DIR to a shorter path.`)
  }
  if (user) await lchown(path, user.uid, user.gid)
  return path
}

function unlessExists(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EEXIST') throw error
}

const shortHash = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 16)
