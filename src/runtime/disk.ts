import { statfs } from 'node:fs/promises'
import { dirname } from 'node:path'

/**
 * Returns the space that this user can still write to the file system of a directory, in bytes. If the directory does
 * not exist yet, its nearest existing parent counts.
 */
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
