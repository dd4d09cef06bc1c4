import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { brotliDecompressSync } from 'node:zlib'
import { extract } from 'tar-stream'

/**
 * A released version: its schema and its statements. `VERSION.backup` has a database of it with rows in every table, and
 * `VERSION.organization.jsonl` is an export of the organization of that database.
 */
export type Release = {
  version: string
  rows: number
  migrations: { number: number; name: string; sha256: string }[]
  /** The texts of its statements, as far as using everything once runs them. */
  statements: string[]
}

/** The APP_SECRET of the backups. */
export const releaseSecret = 'the secret of the fixtures of released versions'

/** Version 0.1.0 could not export organizations. */
export function readReleases(): (Release & { backup: string; organization: string | undefined })[] {
  return readdirSync(import.meta.dirname)
    .filter((name) => name.endsWith('.json'))
    .map((name) => {
      const path = join(import.meta.dirname, name.replace(/.json$/, ''))
      const organization = `${path}.organization.jsonl`
      return {
        ...(JSON.parse(readFileSync(`${path}.json`, 'utf8')) as Release),
        backup: `${path}.backup`,
        organization: existsSync(organization) ? organization : undefined,
      }
    })
}

/** Unpacks the program of a release. It uses the dependencies of this version. */
export async function unpackProgram(version: string) {
  const folder = mkdtempSync(join(tmpdir(), `waxwing-${version}-`))
  const packed = brotliDecompressSync(readFileSync(join(import.meta.dirname, `${version}.program.tar.br`)))
  const entries = extract()
  entries.end(packed)
  for await (const entry of entries) {
    const path = join(folder, entry.header.name)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, await buffer(entry))
  }
  symlinkSync(resolve('node_modules'), join(folder, 'node_modules'))
  return { folder, [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }) }
}
