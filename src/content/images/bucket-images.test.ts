import { pino } from 'pino'
import sharp from 'sharp'
import { expect, test } from 'vitest'
import { failureLog } from '../../../test/support/failure-log.ts'
import { addImage, downloadImage, fileOf, uploadImage } from '../../../test/support/images.ts'
import { insertOwner } from '../../../test/support/organizations.ts'
import { accessOf, bucketSettings, type S3Server, startS3 } from '../../../test/support/s3-server.ts'
import { startTestApp, type TestApp } from '../../../test/support/test-app.ts'
import { until } from '../../../test/support/until.ts'
import { eraseDeletedOrganizations } from '../../operations/privacy/erase-organization.ts'
import { Bucket, bucketOf } from '../../platform/object-storage/bucket.ts'
import { StageRegistry } from '../../platform/runtime/stage-registry.ts'
import { type OrganizationId, parseId } from '../../platform/values/ids.ts'
import { removeUnusedObjects } from '../files/bucket-cleanup.ts'
import { BucketFiles } from '../files/bucket-files.ts'
import { moveImages } from './move-images.ts'
import { ServedImages } from './served-images.ts'

const log = pino({ level: 'silent' })
const failures = failureLog(log)
const png = (background: string) =>
  sharp({ create: { width: 40, height: 30, channels: 3, background } })
    .png()
    .toBuffer()
const [brown, green, blue] = await Promise.all([png('#c84'), png('#4c8'), png('#48c')])

const start = (s3: S3Server) => startTestApp(bucketSettings(s3), ['serve'])

const filesOf = (app: TestApp) => app.db<{ inBucket: boolean; uses: number }>`select in_bucket, uses from stored_files`

/** As a process that starts now reads images. */
const newReader = (app: TestApp, bucket: Bucket | undefined) => {
  const { db } = app
  return new ServedImages(db, new BucketFiles({ db, failures, bucket }), new StageRegistry())
}

test('images are objects of the bucket, are served by the service, and are deleted with the image', async () => {
  await using s3 = await startS3()
  await using app = await start(s3)
  const image = await addImage(app, brown)
  const same = await addImage(app, brown)
  const other = await addImage(app, green)
  expect(await app.db`select from stored_file_chunks`).toEqual([])
  const organizationId = parseId('org', app.organizationId)
  for (const key of s3.objects.keys())
    expect(key).toMatch(new RegExp(`^image-bucket/files/${organizationId}/[0-9a-f-]{36}$`))
  const served = await downloadImage(app, image.url)
  expect([served.status, served.headers.get('content-type')]).toEqual([200, 'image/png'])
  expect([...s3.objects.values()].some((object) => object.equals(served.bytes))).toBe(true)

  for (const { id } of [image, same])
    expect((await app.manage('DELETE', `/organization/images/${id}`)).status).toBe(200)
  await removeUnusedObjects(app.db, bucketOf(app.config)!)
  expect(s3.objects.size).toBe(1)
  expect(await filesOf(app)).toEqual([{ inBucket: true, uses: 1 }])
  expect((await downloadImage(app, same.url)).status).toBe(404)
  expect((await downloadImage(app, other.url)).status).toBe(200)
})

test('while the storage is down, uploads are refused, and images are answered with 503 until it works again', async () => {
  await using s3 = await startS3()
  await using app = await start(s3)
  const image = await addImage(app, brown)
  const withoutBucket = newReader(app, undefined)
  s3.intercept = (response) => {
    response
      .writeHead(503)
      .end('<Error><Code>SlowDown</Code><Message>Please reduce your request rate.</Message></Error>')
    return true
  }
  const refused = await uploadImage(app, green)
  expect([refused.status, refused.body.error.type, refused.body.message]).toEqual([
    503,
    'unavailable',
    'The storage of images is unavailable. Try again later.',
  ])
  expect((await app.manage('GET', '/organization/images')).body.data).toHaveLength(1)
  const down = await downloadImage(app, image.url)
  expect([down.status, down.headers.get('cache-control')]).toEqual([503, 'no-store'])
  await expect(withoutBucket.find(fileOf(image.url))).rejects.toMatchObject({ type: 'unavailable' })

  s3.intercept = () => false
  await until('the image', async () => (await downloadImage(app, image.url)).status === 200)
})

test('many readers while the storage is down cause one request in a while', async () => {
  await using s3 = await startS3()
  await using app = await start(s3)
  const images = [await addImage(app, brown), await addImage(app, green), await addImage(app, blue)]
  let requests = 0
  s3.intercept = (response) => {
    requests++
    response.writeHead(500).end()
    return true
  }
  const reader = newReader(app, new Bucket(accessOf(s3), 60))
  await reader.find(fileOf(images[0]!.url)).catch(() => {})
  const outcomes = await Promise.allSettled(
    images.flatMap(({ url }) => Array.from({ length: 50 }, () => reader.find(fileOf(url)))),
  )
  expect(new Set(outcomes.map(({ status }) => status))).toEqual(new Set(['rejected']))
  expect(requests).toBe(1)
})

test('storage that does not respond is given up, and delays only the images in it', async () => {
  await using s3 = await startS3()
  await using app = await startTestApp({}, ['serve'])
  const moved: string[] = []
  for (const color of ['#111', '#222', '#333', '#444', '#555']) moved.push((await addImage(app, await png(color))).url)
  const bucket = new Bucket(accessOf(s3))
  await moveImages(app.db, new BucketFiles({ db: app.db, failures, bucket }))
  const { url } = await addImage(app, brown)
  let waiting = 0
  s3.intercept = () => ++waiting > 0
  const reader = newReader(app, bucket)
  const slow = Promise.allSettled(moved.map((each) => reader.find(fileOf(each))))
  await until('the requests', () => waiting === moved.length)
  expect((await reader.find(fileOf(url)))?.contentType).toBe('image/png')

  const impatient = newReader(app, new Bucket(accessOf(s3), 0.02))
  await expect(impatient.find(fileOf(moved[0]!))).rejects.toMatchObject({
    cause: { message: 'Did not respond within 0.2 seconds' },
  })
  await s3[Symbol.asyncDispose]()
  expect(new Set((await slow).map(({ status }) => status))).toEqual(new Set(['rejected']))
})

test('an object with other content than the one that was stored is not served, and a lost one is not found', async () => {
  await using s3 = await startS3()
  await using app = await start(s3)
  const { url } = await addImage(app, brown)
  for (const wrong of [Buffer.alloc(10), Buffer.alloc(1_000_000)]) {
    s3.intercept = (response) => {
      response.writeHead(200).end(wrong)
      return true
    }
    const reader = newReader(app, new Bucket(accessOf(s3)))
    await expect(reader.find(fileOf(url))).rejects.toMatchObject({ type: 'unavailable' })
  }
  s3.intercept = () => false
  s3.objects.clear()
  expect((await downloadImage(app, url)).status).toBe(404)
})

test('the object of an upload that was killed before its commit is deleted an hour later', async () => {
  await using s3 = await startS3()
  await using app = await start(s3)
  const bucket = bucketOf(app.config)!
  const files = new BucketFiles({ db: app.db, failures, bucket })
  await files.upload(parseId('org', app.organizationId)!, brown, 'image/png')
  await removeUnusedObjects(app.db, bucket)
  expect(s3.objects.size).toBe(1)
  await app.db.statement`update stored_files set created_at = now() - interval '61 minutes'`
  await removeUnusedObjects(app.db, bucket)
  expect([s3.objects.size, await filesOf(app)]).toEqual([0, []])
})

test('an object that cannot be deleted is tried again later, and the others are deleted', async () => {
  await using s3 = await startS3()
  await using app = await start(s3)
  const bucket = bucketOf(app.config)!
  for (const bytes of [brown, green, blue])
    await app.manage('DELETE', `/organization/images/${(await addImage(app, bytes)).id}`)
  const [locked] = s3.objects.keys()
  s3.intercept = (response, { url }) => {
    if (url !== `/${locked}`) return false
    response.writeHead(403).end('<Error><Code>AccessDenied</Code><Message>Object is locked.</Message></Error>')
    return true
  }
  await expect(removeUnusedObjects(app.db, bucket)).rejects.toThrow('Responded 403: AccessDenied: Object is locked.')
  expect([...s3.objects.keys()]).toEqual([locked])
  await removeUnusedObjects(app.db, bucket)
  s3.intercept = () => false
  await app.db.statement`update stored_files set created_at = now() - interval '61 minutes'`
  await removeUnusedObjects(app.db, bucket)
  expect([s3.objects.size, await filesOf(app)]).toEqual([0, []])
})

test('images that were uploaded before are moved to the bucket, and never missing', async () => {
  await using s3 = await startS3()
  await using app = await startTestApp({}, ['serve'])
  const images = [await addImage(app, brown), await addImage(app, green), await addImage(app, brown)]
  const contents = await Promise.all(images.map(async ({ url }) => (await downloadImage(app, url)).bytes))
  // An email with the same file keeps it in the database.
  const attachment = { filename: 'logo.png', content: contents[1]!.toString('base64') }
  const email = {
    from: 'shop@example.com',
    to: 'ada@example.com',
    subject: 'Logo',
    text: 'Attached',
    attachments: [attachment],
  }
  const sent = await app.publicApi('POST', '/emails', email)
  expect(sent.status, sent.text).toBe(200)

  const bucket = new Bucket(accessOf(s3))
  const files = new BucketFiles({ db: app.db, failures, bucket })
  const reader = newReader(app, bucket)
  const reading = images.map(async ({ url }) => {
    const found: (Buffer | undefined)[] = []
    for (let count = 0; count < 20; count++) found.push((await newReader(app, bucket).find(fileOf(url)))?.content)
    return found
  })
  await moveImages(app.db, files)
  expect((await Promise.all(reading)).flat()).not.toContain(undefined)
  // That of the second image with the same content is removed.
  await removeUnusedObjects(app.db, bucket)
  expect(s3.objects.size).toBe(2)
  for (const [index, { url }] of images.entries())
    expect((await reader.find(fileOf(url)))?.content).toEqual(contents[index])
  const left = await app.db`select in_bucket, uses from stored_files order by in_bucket, uses`
  expect(left).toEqual([
    { inBucket: false, uses: 1 },
    { inBucket: true, uses: 1 },
    { inBucket: true, uses: 2 },
  ])
  const puts = s3.puts.length
  await moveImages(app.db, files)
  expect(s3.puts).toHaveLength(puts)
})

test('deleting an organization deletes its objects, also if the storage is down at first', async () => {
  await using s3 = await startS3()
  await using app = await start(s3)
  const { db } = app
  await addImage(app, brown)
  await addImage(app, green)
  const id = parseId('org', app.organizationId) as OrganizationId
  await db.statement`update organizations set is_operator = false, deleted_at = now() where id = ${id}`
  s3.intercept = (response) => {
    response.writeHead(500).end()
    return true
  }
  // A new process each time: one that met a failure waits a second.
  const erase = () => eraseDeletedOrganizations({ db, log, bucket: new Bucket(accessOf(s3)), keepMs: 0 })
  await expect(erase()).rejects.toThrow('Responded 500')
  expect(await db`select from images where organization_id = ${id}`).toEqual([])
  expect(await filesOf(app)).toHaveLength(2)
  s3.intercept = () => false
  for (const _run of [1, 2]) await erase()
  expect([s3.objects.size, await filesOf(app)]).toEqual([0, []])
  expect(await db`select from organizations where id = ${id}`).toEqual([])
})

test('an upload that outlives its organization leaves no object behind', async () => {
  await using s3 = await startS3()
  await using app = await start(s3)
  const { db } = app
  const id = parseId('org', app.organizationId) as OrganizationId
  await db.statement`update organizations set is_operator = false, deleted_at = now() where id = ${id}`
  const bucket = new Bucket(accessOf(s3))
  const erase = () => eraseDeletedOrganizations({ db, log, bucket, keepMs: 0 })
  const organizations = () => db`select id from organizations where id = ${id}`
  // It has begun, and its object arrives after the organization was erased.
  let key: string | undefined
  let finish = () => {}
  s3.intercept = (response, { method, url }) => {
    if (method !== 'PUT') return false
    key = decodeURIComponent(url!.slice(1))
    finish = () => response.writeHead(200).end()
    return true
  }
  const uploading = new BucketFiles({ db, failures, bucket }).upload(id, brown, 'image/png')
  await until('the upload', () => key)
  for (const _run of [1, 2]) await erase()
  expect(await organizations()).toHaveLength(1)
  s3.objects.set(key!, brown)
  finish()
  await uploading
  await db.statement`update stored_files set created_at = now() - interval '61 minutes'`
  for (const _run of [1, 2]) await erase()
  expect([s3.objects.size, await organizations()]).toEqual([0, []])
})

test('while the storage is down, it is asked once for all deleted organizations', async () => {
  await using s3 = await startS3()
  await using app = await startTestApp({}, ['serve'])
  const { db } = app
  for (const name of ['a', 'b', 'c']) {
    const { organizationId } = await insertOwner(db, name, `${name}@example.com`)
    await new BucketFiles({ db, failures, bucket: new Bucket(accessOf(s3)) }).upload(organizationId, brown, 'image/png')
  }
  await db.statement`update stored_files set hash = decode(md5(id::text), 'hex'), bytes = 1, uses = 1`
  await db.statement`update organizations set is_operator = false, deleted_at = now()`
  let requests = 0
  s3.intercept = () => ++requests > 0
  const bucket = new Bucket(accessOf(s3), 0.005)
  await expect(eraseDeletedOrganizations({ db, log, bucket, keepMs: 0 })).rejects.toThrow('Did not respond')
  expect([requests, await db`select from users`]).toEqual([1, []])
})
