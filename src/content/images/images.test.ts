import { createHash, hash } from 'node:crypto'
import { once } from 'node:events'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { promisify } from 'node:util'
import { pino } from 'pino'
import sharp from 'sharp'
import { expect, test } from 'vitest'
import { failureLog } from '../../../test/support/failure-log.ts'
import { createFlow } from '../../../test/support/flows.ts'
import { addImage, downloadImage, fileOf, uploadImage } from '../../../test/support/images.ts'
import { lockWaits } from '../../../test/support/lock-waits.ts'
import { insertOwner, sessionOf } from '../../../test/support/organizations.ts'
import { startSharedApp, startTestApp, type TestApp } from '../../../test/support/test-app.ts'
import { until } from '../../../test/support/until.ts'
import { createServer } from '../../platform/http/server.ts'
import { RateLimit } from '../../platform/runtime/rate-limit.ts'
import { StageRegistry } from '../../platform/runtime/stage-registry.ts'
import { parseId } from '../../platform/values/ids.ts'
import { BucketFiles } from '../files/bucket-files.ts'
import { formatOf } from './formats.ts'
import { imageFileRoutes } from './image-files.routes.ts'
import { ServedImages } from './served-images.ts'

const failures = failureLog(pino({ level: 'silent' }))
const newApp = await startSharedApp({}, ['serve'], { tuning: { imageMibPerOrganization: 1 } })

type Picture = { width?: number; height?: number; noise?: boolean }
const picture = ({ width = 40, height = 30, noise = false }: Picture = {}) =>
  noise
    ? sharp(
        Buffer.from(Array.from({ length: width * height * 3 }, (_, i) => (Math.imul(i, 2_654_435_761) >>> 24) & 255)),
        {
          raw: { width, height, channels: 3 },
        },
      )
    : sharp({ create: { width, height, channels: 3, background: '#c84' } })
const mib = 1024 * 1024
const png = await picture().png().toBuffer()

test('an image of each format is served at a public address that browsers keep and never execute', async () => {
  const app = await newApp()
  const files = {
    'image/png': [png, 'png'],
    'image/jpeg': [await picture().jpeg().toBuffer(), 'jpg'],
    'image/gif': [await picture().gif().toBuffer(), 'gif'],
    'image/webp': [await picture().webp().toBuffer(), 'webp'],
  } as const
  for (const [type, [bytes, extension]] of Object.entries(files)) {
    const { status, body } = await uploadImage(app, bytes, type, '?name=Logo&alt_text=The%20logo')
    expect(status, JSON.stringify(body)).toBe(201)
    const sizes = { width: 40, height: 30, frames: 1 }
    expect(body.data).toMatchObject({ name: 'Logo', alt_text: 'The logo', content_type: type, ...sizes })
    expect(body.data.url).toMatch(new RegExp(`/i/[\\w-]{64}\\.${extension}$`))
    const served = await downloadImage(app, body.data.url)
    expect(served.status).toBe(200)
    expect(formatOf(served.bytes)).toBe(type.slice('image/'.length))
    expect(served.bytes.length).toBe(body.data.size_bytes)
    expect(Object.fromEntries(served.headers)).toMatchObject({
      'content-type': type,
      'content-length': String(served.bytes.length),
      'cache-control': 'public, max-age=31536000, immutable',
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none'; sandbox; frame-ancestors 'none'",
      'cross-origin-resource-policy': 'cross-origin',
    })
    const again = await downloadImage(app, body.data.url, { 'if-none-match': served.headers.get('etag')! })
    expect([again.status, again.bytes.length]).toEqual([304, 0])
  }
})

test('metadata, texts and appended programs are removed, and a photo is turned upright', async () => {
  const app = await newApp()
  const script = '<script>alert(document.domain)</script>'
  const photo = await picture()
    .withExif({ IFD0: { Copyright: script, ImageDescription: 'Home' }, IFD3: { GPSLatitude: '52/1 31/1 0/1' } })
    .withMetadata({ orientation: 6 })
    .jpeg()
    .toBuffer()
  expect(photo.includes('Home')).toBe(true)
  const gif = await picture().gif().toBuffer()
  const comment = Buffer.from([0x21, 0xfe, script.length, ...Buffer.from(script), 0])
  const gifWithComment = Buffer.concat([gif.subarray(0, -1), comment, gif.subarray(-1), Buffer.from(script)])
  const cases = [
    ['image/jpeg', Buffer.concat([photo, Buffer.from(script)]), { width: 30, height: 40 }],
    ['image/png', Buffer.concat([png, Buffer.from(script)]), { width: 40, height: 30 }],
    ['image/gif', gifWithComment, { width: 40, height: 30 }],
  ] as const
  for (const [type, bytes, size] of cases) {
    const { body, text } = await uploadImage(app, bytes, type)
    expect(body.data, text).toMatchObject(size)
    const served = await downloadImage(app, body.data.url)
    expect(served.bytes.includes('alert')).toBe(false)
    expect(served.bytes.includes('Home')).toBe(false)
    expect((await sharp(served.bytes).metadata()).exif).toBeUndefined()
  }
})

test('an animation keeps its frames, and wide pictures are made smaller', async () => {
  const app = await newApp()
  const [width, height, pages] = [20, 10, 3]
  const frames = Buffer.from(Array.from({ length: width * height * pages * 3 }, (_, i) => Math.floor(i / 600) * 90))
  const animation = sharp(frames, { raw: { width, height: height * pages, channels: 3, pageHeight: height } })
  const gif = await animation.gif({ delay: [100, 200, 300], loop: 2 }).toBuffer()
  const { body } = await uploadImage(app, gif, 'image/gif')
  expect(body.data).toMatchObject({ width, height, frames: 3 })
  const served = await sharp((await downloadImage(app, body.data.url)).bytes, { animated: true }).metadata()
  expect(served).toMatchObject({ pages: 3, delay: [100, 200, 300], loop: 2 })

  const wide = await uploadImage(app, await picture({ width: 4_800, height: 600 }).jpeg().toBuffer(), 'image/jpeg')
  expect(wide.body.data).toMatchObject({ width: 2_400, height: 300 })
})

test('files that are no images, damaged, or would take too much memory are rejected before they are decoded', async () => {
  const app = await newApp()
  const jpeg = await picture({ width: 300, height: 300, noise: true }).jpeg().toBuffer()
  const gif = await picture({ width: 300, height: 300, noise: true }).gif().toBuffer()
  const noisy = await picture({ width: 300, height: 300, noise: true }).png().toBuffer()
  // 20,000 × 20,000 pixels in the header of a small file.
  const bomb = Buffer.from(png)
  bomb.writeUInt32BE(20_000, 16)
  bomb.writeUInt32BE(20_000, 20)
  const large = Buffer.from(png)
  large.writeUInt32BE(9_000, 16)
  large.writeUInt32BE(9_000, 20)
  // 16 bits in each of four channels.
  const deep = Buffer.from(png)
  deep.writeUInt32BE(5_000, 16)
  deep.writeUInt32BE(5_000, 20)
  deep.set([16, 6], 24)
  for (const header of [bomb, large, deep]) header.writeUInt32BE(crcOf(header.subarray(12, 29)), 29)
  const rejected: [Uint8Array, string][] = [
    [Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'), 'is not a PNG, JPEG, GIF or WebP image'],
    [Buffer.from('<html></html>'), 'is not a PNG, JPEG, GIF or WebP image'],
    [jpeg.subarray(0, jpeg.length / 2), 'is damaged or incomplete'],
    [gif.subarray(0, gif.length / 2), 'is damaged or incomplete'],
    [noisy.subarray(0, noisy.length / 2), 'is damaged or incomplete'],
    [png.subarray(0, 10), 'is damaged or incomplete'],
    [bomb, 'has 20000 × 20000 pixels. Each side can have at most 10,000'],
    [large, 'has more than 40 million pixels'],
    [deep, 'takes more than 160 MB when decoded. Save it with 8 bits per channel'],
  ]
  for (const [bytes, problem] of rejected) {
    const { status, body } = await uploadImage(app, bytes)
    expect([status, body.error.fields]).toEqual([422, [{ path: 'image', problem }]])
  }
  expect((await uploadImage(app, png, 'image/svg+xml')).status).toBe(415)
  expect((await uploadImage(app, Buffer.alloc(10 * 1024 * 1024 + 1), 'image/png')).status).toBe(413)
  expect((await app.manage('GET', '/organization/images')).body.data).toEqual([])
})

test('the gallery lists, searches and renames images, and says which flows use them', async () => {
  const app = await newApp()
  const first = (await uploadImage(app, png, 'image/png', '?name=Logo')).body.data
  const second = (await uploadImage(app, png, 'image/png', '?name=Summer%20sale')).body.data
  const list = async (query = '') => (await app.manage('GET', `/organization/images${query}`)).body
  expect((await list()).data.map(({ id }: { id: string }) => id)).toEqual([second.id, first.id])
  expect((await list('?query=SUMMER')).data).toHaveLength(1)
  const { next_cursor: cursor } = await list('?limit=1')
  expect((await list(`?limit=1&cursor=${cursor}`)).data).toMatchObject([{ id: first.id }])

  const changed = await app.manage('PATCH', `/organization/images/${first.id}`, { alt_text: ' Acme ' })
  expect(changed.body.data).toMatchObject({ name: 'Logo', alt_text: 'Acme', url: first.url })
  const flowId = await createFlow(app, { name: 'Welcome', html: `<img src="${first.url}">` })
  const flowsOf = async (id: string) => (await app.manage('GET', `/organization/images/${id}`)).body.data.flows
  expect(await flowsOf(first.id)).toEqual([{ id: flowId, name: 'Welcome' }])
  expect(await flowsOf(second.id)).toEqual([])
  await app.manage('PUT', `/organization/flows/${flowId}/draft`, { html: `<img src="${second.url}">` })
  expect(await flowsOf(second.id)).toHaveLength(1)
})

test('the same file is stored once, until the last image with it is deleted', async () => {
  await using app = await startTestApp({}, ['serve'])
  const first = (await uploadImage(app, png)).body.data
  const second = (await uploadImage(app, png)).body.data
  expect(second.url).not.toBe(first.url)
  const uses = () => app.db<{ uses: number }>`select uses from stored_files`
  expect(await uses()).toEqual([{ uses: 2 }])
  for (const [image, left] of [
    [first, [{ uses: 1 }]],
    [second, []],
  ] as const) {
    expect((await app.manage('DELETE', `/organization/images/${image.id}`)).status).toBe(200)
    expect(await uses()).toEqual(left)
    expect((await app.manage('GET', `/organization/images/${image.id}`)).status).toBe(404)
    expect((await downloadImage(app, image.url)).status).toBe(404)
  }
})

test('other addresses than the exact one lead to nothing, also for other organizations', async () => {
  const app = await newApp()
  const other = await newApp()
  const image = (await uploadImage(app, png)).body.data
  const theirs = (await uploadImage(other, png)).body.data
  const key = (url: string) => /\/i\/(.{64})\./.exec(url)![1]!
  const [mine, strange] = [key(image.url), key(theirs.url)].map((text) => Buffer.from(text, 'base64url'))
  const mixed = Buffer.concat([mine!.subarray(0, 32), strange!.subarray(32)]).toString('base64url')
  const otherOrganization = Buffer.concat([strange!.subarray(0, 16), mine!.subarray(16)]).toString('base64url')
  for (const path of [`${mixed}.png`, `${otherOrganization}.png`, `${key(image.url)}.gif`, 'x.png', 'x'])
    expect((await downloadImage(app, `http://x/i/${path}`)).status).toBe(404)
})

test('an organization can store a limited amount', async () => {
  const app = await newApp()
  const noisy = await picture({ width: 300, height: 300, noise: true }).jpeg({ quality: 100 }).toBuffer()
  let last = await uploadImage(app, noisy, 'image/jpeg')
  expect(last.status, last.text).toBe(201)
  while (last.status === 201) last = await uploadImage(app, noisy, 'image/jpeg')
  expect([last.status, last.body.message]).toEqual([409, expect.stringContaining('take more than 1 MB')])
  const { data } = (await app.manage('GET', '/organization/images')).body
  const sum = data.reduce((total: number, { size_bytes: bytes }: { size_bytes: number }) => total + bytes, 0)
  expect(sum).toBeLessThanOrEqual(1024 * 1024)
})

test('many readers of one image cause one read, and slow readers of many images a limited use of memory', async () => {
  await using app = await startTestApp({}, ['serve'])
  const file = fileOf((await uploadImage(app, png)).body.data.url)
  const images = new ServedImages(
    app.db,
    new BucketFiles({ db: app.db, failures, bucket: undefined }),
    new StageRegistry(),
  )
  const found = await Promise.all(Array.from({ length: 500 }, () => images.find(file)))
  expect(new Set(found).size).toBe(1)
  expect(hash('sha256', found[0]!.content)).toHaveLength(64)

  const large = (organizationId: string) => ({
    organizationId,
    contentType: 'image/png',
    etag: '""',
    content: Buffer.alloc(5 * 1024 * 1024),
  })
  const sent = Array.from({ length: 10 }, () => large('a'))
  expect(sent.map((image) => images.begin(image))).toEqual([...Array(6).fill(true), ...Array(4).fill(false)])
  expect(images.begin(sent[0]!)).toBe(true)
  expect(images.begin(large('b'))).toBe(true)
  for (const image of [sent[0]!, sent[0]!]) images.end(image)
  expect(images.begin(sent[9]!)).toBe(true)
})

test('uploads that arrive slowly do not keep those of other organizations waiting', async () => {
  await using app = await startTestApp({}, ['serve'])
  const { hostname, port } = new URL(app.url)
  const open = async (session: string) => {
    const socket = connect(Number(port), hostname).on('error', () => {})
    await once(socket, 'connect')
    const head = ['POST /api/v1/organization/images HTTP/1.1', 'host: a', `authorization: Bearer ${session}`]
    socket.write([...head, 'content-type: image/png', `content-length: ${9 * mib}`, '', ''].join('\r\n'))
    // More than connections buffer, so that it is being received.
    const written = new Promise((resolve) => socket.write(Buffer.alloc(9 * mib - 1), resolve))
    return { socket, written }
  }
  const slow: Socket[] = []
  for (const name of ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']) {
    const owner = await insertOwner(app.db, name, `${name}@example.com`)
    const session = await sessionOf(app.db, app.secrets, owner)
    // One of them waits for the other.
    const [first, second] = [await open(session), await open(session)]
    await Promise.any([first.written, second.written])
    slow.push(first.socket, second.socket)
  }
  expect((await uploadImage(app, png)).status).toBe(201)
  for (const socket of slow) socket.destroy()
})

test('readers who disconnect or stop reading hold no memory', async () => {
  await using app = await startTestApp({}, ['serve'])
  // Larger than what the connections buffer, if it is requested 50 times.
  const noise = createHash('shake256', { outputLength: 300 * 300 * 3 })
    .update('noise')
    .digest()
  const noisy = await sharp(noise, { raw: { width: 300, height: 300, channels: 3 } })
    .png()
    .toBuffer()
  const file = fileOf((await addImage(app, noisy)).url)
  await using files = await startFileServer(app)
  const connections = promisify(files.server.server.getConnections.bind(files.server.server))

  // While the image is being read.
  await app.db.begin(async (tx) => {
    await tx`lock table images in access exclusive mode`
    const early = await files.request(file, 1)
    await until('the query', async () => (await lockWaits(app.db)).length > 0)
    early.destroy()
    await until('the disconnection', async () => (await connections()) === 0)
  })
  expect(await files.get(file)).toBe(200)
  await until('the memory', files.isIdle)

  // While responses wait for the first one.
  const pipelined = await files.request(file, 50)
  await until('the first response', () => !files.isIdle())
  pipelined.destroy()
  await until('the memory', files.isIdle)

  await using impatient = await startFileServer(app, { sendMsMax: 200 })
  const slow = await impatient.request(file, 50)
  await until('the first response', () => !impatient.isIdle())
  await until('the memory', impatient.isIdle)
  slow.destroy()
})

test('addresses without an image are searched for once in a while, and few times by one client', async () => {
  const app = await newApp()
  const other = fileOf((await addImage(app, png)).url)
  const file = fileOf((await addImage(app, png)).url)
  const wrong = (end: string) => `${file.slice(0, 62)}${end}.png`
  await using files = await startFileServer(app, { missesPerSecond: 0.001 })
  for (const [path, status] of [
    [file, 200],
    ['x.png', 404],
    [wrong('AA'), 404],
    [wrong('AA'), 404],
    [wrong('BB'), 429],
    [other, 429],
    [file, 200],
  ] as const)
    expect([path, await files.get(path)]).toEqual([path, status])
})

type FileServerOptions = { sendMsMax?: number; missesPerSecond?: number }

/** Serves images alone, with its own limits. */
async function startFileServer({ db, organizationId }: TestApp, options: FileServerOptions = {}) {
  const { sendMsMax = 60_000, missesPerSecond = 0 } = options
  const images = new ServedImages(db, new BucketFiles({ db, failures, bucket: undefined }), new StageRegistry())
  const server = createServer({ log: pino({ level: 'silent' }), baseUrl: () => 'http://localhost', trustProxy: false })
  server.decorateRequest('linkHostOrganization', null)
  await server.register(
    imageFileRoutes({ images, missLimit: new RateLimit({ perSecond: missesPerSecond }), sendMsMax }),
  )
  await server.listen({ port: 0, host: '127.0.0.1' })
  const { port } = server.server.address() as AddressInfo
  const largest = {
    organizationId: parseId('org', organizationId)!,
    contentType: 'image/png',
    etag: '""',
    content: Buffer.alloc(32 * 1024 * 1024),
  }
  return {
    server,
    get: async (file: string) => {
      const response = await fetch(`http://127.0.0.1:${port}/i/${file}`)
      await response.arrayBuffer()
      return response.status
    },
    /** Sends requests on one connection and reads no response. */
    request: async (file: string, count: number) => {
      const socket = connect(port, '127.0.0.1').on('error', () => {})
      await once(socket, 'connect')
      socket.write(`GET /i/${file} HTTP/1.1\r\nhost: a\r\n\r\n`.repeat(count))
      return socket
    },
    /** Whether all of the memory for images of the organization that are being sent is free. */
    isIdle: () => {
      const isIdle = images.begin(largest)
      if (isIdle) images.end(largest)
      return isIdle
    },
    [Symbol.asyncDispose]: async () => server.close(),
  }
}

function crcOf(bytes: Uint8Array): number {
  let crc = 0xffffffff
  for (const byte of bytes) {
    crc ^= byte
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1
  }
  return (crc ^ 0xffffffff) >>> 0
}
