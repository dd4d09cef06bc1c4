import { statSync } from 'node:fs'
import type { Certificate } from '../../platform/config/setting-files.ts'

/** Files are looked at once per this time at most. */
const checkEveryMsDefault = 1_000

/**
 * Returns a function that returns the certificate if its files were replaced since the last call, otherwise undefined. It
 * is called for each connection. While `read` throws, for example because only one file was replaced yet, the certificate
 * in use stays.
 */
export function watchCertificate(
  files: readonly string[],
  read: () => Certificate,
  onInvalid: (error: unknown) => void,
  checkEveryMs = checkEveryMsDefault,
): () => Certificate | undefined {
  let known = stampOf(files)
  let invalid: string | undefined
  let checkedAt = performance.now()
  return () => {
    if (performance.now() - checkedAt < checkEveryMs) return undefined
    checkedAt = performance.now()
    const stamp = stampOf(files)
    if (stamp === known) return undefined
    try {
      const certificate = read()
      known = stamp
      return certificate
    } catch (error) {
      // Once for each version of the files.
      if (stamp !== invalid) onInvalid(error)
      invalid = stamp
      return undefined
    }
  }
}

/** Changes when a file is replaced, also by another link to it, as Kubernetes does. */
function stampOf(files: readonly string[]): string {
  return files
    .map((file) => {
      const stat = statSync(file, { throwIfNoEntry: false })
      return stat ? `${stat.ino} ${stat.size} ${stat.mtimeMs}` : 'none'
    })
    .join(', ')
}
