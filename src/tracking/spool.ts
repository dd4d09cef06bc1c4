import { type FileHandle, mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises'
import { join, parse } from 'node:path'
import { Batcher } from '../runtime/batcher.ts'
import { newId } from '../values/ids.ts'

const MiB = 1024 * 1024

export type SpoolLimits = {
  /** Of all files together; some 500,000 hits. */
  bytesMax: number
  /** A file is read whole when it is replayed. */
  fileBytesMax: number
}
export const spoolLimits: SpoolLimits = { bytesMax: 256 * MiB, fileBytesMax: 8 * MiB }

const linesPerWrite = 1_000
const waitingMax = 20_000
const linesPerReplay = 500
const writeTries = 5

export class SpoolFull extends Error {
  constructor() {
    super('The spool is full.')
  }
}

/** What `take` throws when no other file can be taken now either. */
export class NotNow extends Error {}

type OpenFile = { handle: FileHandle; path: string; bytes: number }

/**
 * Lines that wait on the disk for the database to come back. `append` resolves when the line is on the disk, in groups as
 * commits are.
 *
 * Whoever replays a file renames it first and then reads it; whoever writes looks after each write whether the file still
 * has its name, and writes the lines again into a new file if not. So any process may replay what any other wrote or
 * left behind, without a lock: a line may be replayed twice, and is never missed.
 */
export class Spool {
  readonly #directory: string
  readonly #limits: SpoolLimits
  readonly #writer: Batcher<string, void>
  #file: OpenFile | undefined
  #bytes = 0
  /** The sizes of files that were taken whole and only have to be removed: nothing is added to them any more. */
  readonly #taken = new Map<string, number>()

  constructor(directory: string, limits: Partial<SpoolLimits> = {}) {
    this.#directory = directory
    this.#limits = { ...spoolLimits, ...limits }
    this.#writer = new Batcher<string, void>({
      name: 'write spool',
      itemsMax: linesPerWrite,
      waitingMax,
      run: async (lines) => {
        await this.#write(Buffer.from(lines.join('')))
        return lines.map(() => ({ ok: true, value: undefined }))
      },
    })
  }

  /** As far as this process knows. */
  get bytes(): number {
    return this.#bytes
  }

  /** Rejects with SpoolFull, or with what the disk says. */
  append(content: unknown): Promise<void> {
    return this.#writer.add(`${JSON.stringify(content)}\n`)
  }

  /** Rejects with what the disk says when nothing can be written. */
  async check(): Promise<void> {
    const file = await this.#open()
    await this.#leave(file)
    await rm(file.path, { force: true })
  }

  /**
   * Gives all lines to `take`, some hundred at a time, and removes each file after its last line was taken. Answers with
   * how many there were. What cannot be taken stays for the next time and is told to `onFault`; the other files go on,
   * unless `take` throws NotNow.
   */
  async replay(
    take: (lines: string[]) => Promise<void>,
    onFault: (file: string, error: unknown) => void,
  ): Promise<number> {
    let count = 0
    const names = await this.#names().catch((error: unknown) => {
      onFault(this.#directory, error)
      return []
    })
    for (const name of names) {
      try {
        count += await this.#replayFile(name, take)
      } catch (error) {
        if (error instanceof NotNow) throw error
        onFault(parse(name).name, error)
      }
    }
    return count
  }

  async close(): Promise<void> {
    await this.#writer.drained()
    await this.#file?.handle.close()
    this.#file = undefined
  }

  async #names(): Promise<string[]> {
    const names = (await readdir(this.#directory).catch(missing)) ?? []
    return names.filter((name) => /\.(jsonl|replay)$/.test(name)).sort()
  }

  async #replayFile(name: string, take: (lines: string[]) => Promise<void>): Promise<number> {
    const path = await this.#claim(name)
    if (!path) return 0
    let count = 0
    if (!this.#taken.has(path)) {
      const text = await readFile(path, 'utf8').catch(missing)
      if (text === undefined) return 0
      // What stands behind the last line break was torn by a crash, and nobody was told that it is kept.
      const lines = text.split('\n').slice(0, -1)
      count = lines.length
      for (let from = 0; from < count; from += linesPerReplay) await take(lines.slice(from, from + linesPerReplay))
      this.#taken.set(path, Buffer.byteLength(text))
    }
    await rm(path, { force: true })
    this.#bytes = Math.max(0, this.#bytes - this.#taken.get(path)!)
    this.#taken.delete(path)
    return count
  }

  /** Undefined when another process was quicker. */
  async #claim(name: string): Promise<string | undefined> {
    const path = join(this.#directory, name)
    if (name.endsWith('.replay')) return path
    const claimed = path.replace(/jsonl$/, 'replay')
    return rename(path, claimed).then(() => claimed, missing)
  }

  async #write(bytes: Buffer): Promise<void> {
    for (let tries = 1; tries <= writeTries; tries++) {
      const file = this.#file ?? (await this.#open())
      if (this.#bytes + bytes.length > this.#limits.bytesMax) throw new SpoolFull()
      try {
        await file.handle.appendFile(bytes)
        await file.handle.datasync()
      } catch (error) {
        // Half a line may stand there now: nothing may be written behind it.
        await this.#leave(file)
        throw error
      }
      file.bytes += bytes.length
      this.#bytes += bytes.length
      const isThere = (await stat(file.path).catch(missing)) !== undefined
      if (!isThere || file.bytes >= this.#limits.fileBytesMax) await this.#leave(file)
      if (isThere) return
    }
    throw new Error('The spool’s files are taken away faster than they can be written.')
  }

  async #open(): Promise<OpenFile> {
    await mkdir(this.#directory, { recursive: true })
    const sizes = (await this.#names()).map(
      async (name) => (await stat(join(this.#directory, name)).catch(missing))?.size,
    )
    this.#bytes = (await Promise.all(sizes)).reduce<number>((sum, size) => sum + (size ?? 0), 0)
    const path = join(this.#directory, `${newId('evt')}.jsonl`)
    this.#file = { handle: await open(path, 'ax', 0o600), path, bytes: 0 }
    await syncDirectory(this.#directory)
    return this.#file
  }

  async #leave(file: OpenFile): Promise<void> {
    this.#file = undefined
    await file.handle.close().catch(() => {})
  }
}

/** So that the file's name is on the disk as well. */
async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, 'r')
  await directory.sync().finally(() => directory.close())
}

function missing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error
}
