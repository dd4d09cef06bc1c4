import { rename, rm } from 'node:fs/promises'

/**
 * Moves a complete build to its place, where another one may be. If two builds end at the same time, as when `serve` and
 * `work` are started together, either of them is kept.
 */
export async function replaceDirectory(next: string, target: string): Promise<void> {
  const previous = `${next}.previous`
  try {
    // Renamed and not removed first, so that the directory is missing only for a moment.
    await rename(target, previous).catch(unless('ENOENT'))
    await rename(next, target).catch(unless('ENOTEMPTY', 'EEXIST'))
  } finally {
    await rm(previous, { recursive: true, force: true })
    await rm(next, { recursive: true, force: true })
  }
}

const unless =
  (...codes: string[]) =>
  (error: NodeJS.ErrnoException) => {
    if (!codes.includes(error.code ?? '')) throw error
  }
