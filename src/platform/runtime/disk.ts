import { statfs } from 'node:fs/promises'
import { dirname } from 'node:path'

/** Returns the bytes that this user can write to a directory, or to its nearest parent if it does not exist. */
export async function findFreeBytes(directory: string): Promise<number> {
  try {
    const { bavail, bsize } = await statfs(directory)
    return bavail * bsize
  } catch (error) {
    const parent = dirname(directory)
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || parent === directory) throw error
    return findFreeBytes(parent)
  }
}
