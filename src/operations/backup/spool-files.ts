import { createReadStream } from 'node:fs'
import { mkdir, open, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { newId } from '../../platform/values/ids.ts'

const folderOf = (dataDir: string) => join(dataDir, 'spool')

/** Returns the files with tracked hits that are not recorded yet. */
export async function listSpoolFiles(dataDir: string): Promise<string[]> {
  const folder = folderOf(dataDir)
  const names = await readdir(folder).catch(() => [])
  return names
    .filter((name) => /\.(jsonl|replay)$/.test(name))
    .sort()
    .map((name) => join(folder, name))
}

/** Yields nothing if the file was replayed and deleted: its hits are in the database then. */
export async function* readSpoolFile(path: string): AsyncGenerator<Buffer> {
  try {
    yield* createReadStream(path) as AsyncIterable<Buffer>
  } catch (error) {
    // A running service renames a file before it replays it.
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    if (path.endsWith('.jsonl')) yield* readSpoolFile(path.replace(/jsonl$/, 'replay'))
  }
}

/** Restored files are not replayed before `publish` renames them. `discard` deletes them. */
export class RestoredSpool {
  readonly #folder: string
  readonly #names: string[] = []

  constructor(dataDir: string) {
    this.#folder = folderOf(dataDir)
  }

  async add(content: AsyncIterable<Buffer>): Promise<void> {
    await mkdir(this.#folder, { recursive: true })
    const name = newId('evt')
    this.#names.push(name)
    const file = await open(join(this.#folder, `${name}.restored`), 'wx', 0o600)
    try {
      for await (const piece of content) await file.appendFile(piece)
      await file.sync()
    } finally {
      await file.close()
    }
  }

  async publish(): Promise<void> {
    for (const name of this.#names)
      await rename(join(this.#folder, `${name}.restored`), join(this.#folder, `${name}.jsonl`))
  }

  async discard(): Promise<void> {
    for (const name of this.#names) await rm(join(this.#folder, `${name}.restored`), { force: true })
  }
}
