import type { Config } from '../../platform/config/config.ts'
import { BucketFault, bucketOf } from '../../platform/object-storage/bucket.ts'
import { newId } from '../../platform/values/ids.ts'
import { bad, type Finding, good } from './finding.ts'

const check = 'Images'

/** Writes, reads and deletes an object, because a key may have only some of these permissions. Undefined if none is set. */
export async function checkImages(config: Config): Promise<Finding | undefined> {
  const bucket = bucketOf(config)
  if (!bucket) return undefined
  const key = `files/test-${newId('fil')}`
  const content = Buffer.from('Written by `waxwing doctor`')
  let step = 'stored'
  try {
    await bucket.put(key, content, 'text/plain')
    step = 'read'
    const found = await bucket.get(key, content.length)
    step = 'deleted'
    await bucket.delete(key)
    return found?.equals(content)
      ? good(check, `stored in the bucket ${bucket.name}`)
      : bad(check, `${bucket.name} returned another object than the one that was stored`)
  } catch (error) {
    if (!(error instanceof BucketFault)) throw error
    return bad(
      check,
      `objects in ${bucket.name} cannot be ${step} (${error.message}): check the settings that begin with IMAGES_S3, and the permissions of the key`,
    )
  }
}
