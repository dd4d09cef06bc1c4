import { realpathSync } from 'node:fs'
import { sep } from 'node:path'
import { packageRoot } from '../config/package-root.ts'

/**
 * Flags of Node with which a task process can read the files of this package and of the packages that it uses, but no others,
 * and can neither write files nor start processes or threads. Empty if this version of Node has none. Connections are
 * forbidden from Node 25 on.
 */
export function permissionFlags(): string[] {
  const known = process.allowedNodeEnvironmentFlags
  const permission = ['--permission', '--experimental-permission'].find((flag) => known.has(flag))
  // The libraries for images are an addon.
  return permission ? [permission, '--no-warnings', '--allow-addons', `--allow-fs-read=${readableFolder()}`] : []
}

/** The folder of this package, or the one of all packages if it is installed as one of them. */
function readableFolder(): string {
  const root = realpathSync(packageRoot)
  const packages = `${sep}node_modules${sep}`
  const at = root.indexOf(packages)
  return at === -1 ? root : root.slice(0, at + packages.length - 1)
}
