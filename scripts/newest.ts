import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** Returns the time of the last change of these files and directories, or 0 if none of them exists. */
export function newestMtimeMs(paths: string[]): number {
  let newest = 0
  for (const path of paths) {
    if (!existsSync(path)) continue
    const stat = statSync(path)
    // Includes the time of directories, which changes when a file is removed.
    newest = Math.max(newest, stat.mtimeMs)
    if (stat.isDirectory()) newest = Math.max(newest, newestMtimeMs(readdirSync(path).map((name) => join(path, name))))
  }
  return newest
}
