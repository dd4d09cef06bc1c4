import { type FileHandle, mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises'
import { join, parse } from 'node:path'
import type { Batcher } from '../../platform/runtime/batcher.ts'
import type { StageRegistry } from '../../platform/runtime/stage-registry.ts'
import { syncDirectory } from '../../platform/runtime/sync-directory.ts'
import type { OrganizationId } from '../../platform/values/ids.ts'
import { newId } from '../../platform/values/ids.ts'

const MiB = 1024 * 1024

export type SpoolLimits = {
  /** Total size of all files; about 500,000 hits. */
  bytesMax: number
  /** Size of a file, which is read as a whole on replay. */
  fileBytesMax: number
}
const spoolLimits: SpoolLimits = { bytesMax: 256 * MiB, fileBytesMax: 8 * MiB }

const linesPerWrite = 1_000
const waitingMax = 20_000
const linesPerReplay = 500
const writeTries = 5

export class SpoolFull extends Error {
  constructor() {
    super('The spool is full.')
  }
}

/** Records lines. Returns false if neither they nor others can be recorded now. */
export type TakeLines = (lines: string[]) => Promise<boolean>

type Line = { organizationId: OrganizationId; text: string }
type OpenFile = { handle: FileHandle; path: string; bytes: number }

/**
 * Lines on disk that wait for the database. `append` resolves when the line is on disk; lines are written in groups,
 * like commits.
 *
 * A replaying process renames a file before reading it. A writing process checks after each write that its file still
 * exists under its name, and otherwise writes the lines to a new file. So any process can replay files of any other
 * without a lock: a line may be replayed twice, but is never missed.
 */
export class Spool {
  readonly #directory: string
  readonly #limits: SpoolLimits
  readonly #writer: Batcher<Line, void>
  #file: OpenFile | undefined
  #bytes = 0
  /** Sizes of files that were replayed completely and only have to be deleted; nothing is appended to them. */
  readonly #taken = new Map<string, number>()

  constructor(directory: string, stages: StageRegistry, limits: Partial<SpoolLimits> = {}) {
    this.#directory = directory
    this.#limits = { ...spoolLimits, ...limits }
    this.#writer = stages.batcher<Line, void>({
      name: 'write spool',
      organizationOf: ({ organizationId }) => organizationId,
      itemsMax: linesPerWrite,
      waitingPerOrganization: waitingMax / 2,
      waitingMax,
      run: async (lines) => {
        await this.#write(Buffer.from(lines.map(({ text }) => text).join('')))
        return lines.map(() => ({ ok: true, value: undefined }))
      },
    })
  }

  /** The size as known to this process. */
  get bytes(): number {
    return this.#bytes
  }

  /** Rejects with `SpoolFull`, or with the error of the file system. */
  append(organizationId: OrganizationId, content: unknown): Promise<void> {
    return this.#writer.add({ organizationId, text: `${JSON.stringify(content)}\n` })
  }

  /** Rejects with the error of the file system if the spool is not writable. */
  async check(): Promise<void> {
    const file = await this.#open()
    await this.#leave(file)
    await rm(file.path, { force: true })
  }

  /**
   * Passes all lines to `take`, a few hundred at a time, and deletes each file after its last line. Returns the number
   * of lines, or undefined if `take` returned false. A file that fails is kept for the next time and reported to `onFault`;
   * the others continue.
   */
  async replay(take: TakeLines, onFault: (file: string, error: unknown) => void): Promise<number | undefined> {
    let count = 0
    const names = await this.#names().catch((error: unknown) => {
      onFault(this.#directory, error)
      return []
    })
    for (const name of names) {
      try {
        const replayed = await this.#replayFile(name, take)
        if (replayed === undefined) return undefined
        count += replayed
      } catch (error) {
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

  async #replayFile(name: string, take: TakeLines): Promise<number | undefined> {
    const path = await this.#claim(name)
    if (!path) return 0
    let count = 0
    if (!this.#taken.has(path)) {
      const text = await readFile(path, 'utf8').catch(missing)
      if (text === undefined) return 0
      // Text after the last line break was truncated by a crash, and was never reported as written.
      const lines = text.split('\n').slice(0, -1)
      count = lines.length
      for (let from = 0; from < count; from += linesPerReplay)
        if (!(await take(lines.slice(from, from + linesPerReplay)))) return undefined
      this.#taken.set(path, Buffer.byteLength(text))
    }
    await rm(path, { force: true })
    this.#bytes = Math.max(0, this.#bytes - this.#taken.get(path)!)
    this.#taken.delete(path)
    return count
  }

  /** Returns undefined if another process was faster. */
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
        // The file may end with a partial line: nothing may be appended to it.
        await this.#leave(file)
        throw error
      }
      file.bytes += bytes.length
      this.#bytes += bytes.length
      const isThere = (await stat(file.path).catch(missing)) !== undefined
      if (!isThere || file.bytes >= this.#limits.fileBytesMax) await this.#leave(file)
      if (isThere) return
    }
    throw new Error('The spool files are replayed faster than they can be written.')
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

function missing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error
}
