import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** A released version: its schema and its statements. `VERSION.backup` has a database of it with rows in every table. */
export type Release = {
  version: string
  rows: number
  migrations: { number: number; name: string; sha256: string }[]
  /** The texts of its statements, as far as using everything once runs them. */
  statements: string[]
}

/** The APP_SECRET of the backups. */
export const releaseSecret = 'the secret of the fixtures of released versions'

export function readReleases(): (Release & { backup: string })[] {
  return readdirSync(import.meta.dirname)
    .filter((name) => name.endsWith('.json'))
    .map((name) => ({
      ...(JSON.parse(readFileSync(join(import.meta.dirname, name), 'utf8')) as Release),
      backup: join(import.meta.dirname, name.replace(/json$/, 'backup')),
    }))
}
