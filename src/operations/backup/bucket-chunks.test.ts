import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import sharp from 'sharp'
import { afterAll, expect, test } from 'vitest'
import { failureLog } from '../../../test/support/failure-log.ts'
import { addImage, downloadImage, fileOf } from '../../../test/support/images.ts'
import { bucketSettings, startS3 } from '../../../test/support/s3-server.ts'
import { startTestApp } from '../../../test/support/test-app.ts'
import { createTestDb } from '../../../test/support/test-db.ts'
import { BucketFiles } from '../../content/files/bucket-files.ts'
import { ServedImages } from '../../content/images/served-images.ts'
import { type Db, openDb } from '../../platform/db/db.ts'
import { type Bucket, bucketOf } from '../../platform/object-storage/bucket.ts'
import { StageRegistry } from '../../platform/runtime/stage-registry.ts'
import { type OrganizationId, parseId } from '../../platform/values/ids.ts'
import { backUp } from './backup.ts'
import { exportOrganization } from './export-organization.ts'
import { importOrganization } from './import-organization.ts'
import { noProgress as progress } from './progress.ts'
import { restore } from './restore.ts'

const folder = mkdtempSync(join(tmpdir(), 'waxwing-bucket-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const secrets = { current: 'the secret of this installation', previous: undefined }

const files = {
  backup: {
    write: (path: string, db: Db, bucket: Bucket | undefined) =>
      backUp(path, { db, secrets, dataDir: undefined, waxwing: '0.1.0', bucket, progress }),
    read: async (path: string, db: Db) => {
      const options = { replace: false, pause: false, secretPlace: undefined, dataDir: folder, progress }
      await restore(path, { db, ...options })
    },
  },
  export: {
    write: (path: string, db: Db, bucket: Bucket | undefined, organizationId: OrganizationId) =>
      exportOrganization(path, { db, organizationId, waxwing: '0.1.0', bucket, progress }),
    read: async (path: string, db: Db) => {
      await importOrganization(path, { db, secrets, progress })
    },
  },
}

test.each(['backup', 'export'] as const)(
  'a %s contains the images in the bucket, which are in the database afterwards',
  async (kind) => {
    await using s3 = await startS3()
    await using app = await startTestApp(bucketSettings(s3), ['serve'])
    await using target = await createTestDb()
    const id = parseId('org', app.organizationId) as OrganizationId
    // Of several chunks, with all values of a byte.
    const noise = Buffer.from(Array.from({ length: 300 * 300 * 3 }, (_, at) => Math.imul(at, 2_654_435_761) >>> 24))
    const large = await sharp(noise, { raw: { width: 300, height: 300, channels: 3 } })
      .png()
      .toBuffer()
    const small = await sharp({ create: { width: 9, height: 9, channels: 3, background: 'red' } })
      .png()
      .toBuffer()
    const images = [await addImage(app, large), await addImage(app, small)]
    const deleted = await addImage(app, await sharp(small).negate().png().toBuffer())
    await app.manage('DELETE', `/organization/images/${deleted.id}`)

    const path = join(folder, kind)
    const bucket = bucketOf(app.config)!
    const { write, read } = files[kind]
    expect(await write(path, app.db, bucket, id)).toMatchObject({ missing: 0 })
    // In a connection that does not look like a running service.
    const restoring = openDb({ connection: target.connection, applicationName: 'waxwing restore' })
    await read(path, restoring)
    await restoring.close()
    const { db } = target

    const failures = failureLog(pino({ level: 'silent' }))
    const served = new ServedImages(db, new BucketFiles({ db, failures, bucket: undefined }), new StageRegistry())
    for (const { url } of images)
      expect((await served.find(fileOf(url)))?.content).toEqual((await downloadImage(app, url)).bytes)
    expect(await db`select from stored_files where in_bucket`).toEqual([])

    // Without the bucket, or while it cannot be read, no file is written that looks complete.
    await expect(write(`${path}-2`, app.db, undefined, id)).rejects.toThrow('IMAGES_S3_ENDPOINT is not set')
    s3.objects.delete([...s3.objects.keys()][0]!)
    expect(await write(`${path}-3`, app.db, bucket, id)).toMatchObject({ missing: 1 })
    s3.intercept = (response) => {
      response.writeHead(403).end('<Error><Code>AccessDenied</Code></Error>')
      return true
    }
    await expect(write(`${path}-4`, app.db, bucket, id)).rejects.toThrow('cannot be read (Responded 403: AccessDenied)')
  },
)
