import { createHash, createHmac, type Hash, type Hmac } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { gunzipSync } from 'node:zlib'
import { SignatureV4 } from '@smithy/signature-v4'
import type { Environment } from '../../src/platform/config/config.ts'
import type { BucketAccess } from '../../src/platform/object-storage/signed-request.ts'

export const credentials = {
  accessKeyId: 'AKIAEXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
}
export const region = 'eu-central-1'

/** The settings with which images are stored in it. */
export const bucketSettings = ({ url }: S3Server): Environment => ({
  IMAGES_S3_ENDPOINT: url,
  IMAGES_S3_REGION: region,
  IMAGES_S3_BUCKET: 'image-bucket',
  IMAGES_S3_ACCESS_KEY_ID: credentials.accessKeyId,
  IMAGES_S3_SECRET_ACCESS_KEY: credentials.secretAccessKey,
})

export const accessOf = ({ url }: S3Server): BucketAccess => ({
  endpoint: url,
  region,
  bucket: 'image-bucket',
  ...credentials,
})

/** The hash that the library of AWS uses. */
class Sha256 {
  readonly #secret: string | Uint8Array | undefined
  #hash: Hash | Hmac
  constructor(secret?: string | ArrayBuffer | ArrayBufferView) {
    this.#secret = secret as string | Uint8Array | undefined
    this.#hash = this.#create()
  }
  #create(): Hash | Hmac {
    return this.#secret === undefined ? createHash('sha256') : createHmac('sha256', this.#secret)
  }
  update(data: string | ArrayBuffer | ArrayBufferView): void {
    this.#hash.update(data as Uint8Array)
  }
  async digest(): Promise<Uint8Array> {
    return this.#hash.digest()
  }
  reset(): void {
    this.#hash = this.#create()
  }
}

const signer = new SignatureV4({ credentials, region, service: 's3', sha256: Sha256, uriEscapePath: false })

/** Signs the request again with the library of AWS, and compares the result. */
async function isSigned(request: IncomingMessage, body: Buffer): Promise<boolean> {
  const { authorization = '', 'x-amz-date': date, 'x-amz-content-sha256': hash } = request.headers
  const names = /SignedHeaders=([^,]+)/.exec(authorization)?.[1]?.split(';') ?? []
  if (hash !== createHash('sha256').update(body).digest('hex')) return false
  const headers = Object.fromEntries(names.map((name) => [name, String(request.headers[name])]))
  const { hostname, port, pathname } = new URL(request.url!, `http://${request.headers.host}`)
  const time = String(date).replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z')
  const signed = await signer.sign(
    { method: request.method!, protocol: 'http:', hostname, port: Number(port), path: pathname, query: {}, headers },
    { signingDate: new Date(time), signableHeaders: new Set(names) },
  )
  return signed.headers.authorization?.replaceAll(' ', '') === authorization.replaceAll(' ', '')
}

const messages: Record<string, string> = {
  SignatureDoesNotMatch: 'The signature is wrong.',
  NoSuchKey: 'There is no such object.',
}

export type S3Server = AsyncDisposable & {
  url: string
  /** Stored objects by bucket and key. */
  objects: Map<string, Buffer>
  /** How often each object was put. */
  puts: string[]
  /** Returns true if it has answered. */
  intercept: (response: ServerResponse, request: IncomingMessage) => boolean
  /** The events of all files, in the order of their names. */
  events(): { id: string; event_name: string }[]
}

/** Storage that accepts signed requests for objects in any bucket. */
export async function startS3(): Promise<S3Server> {
  const objects = new Map<string, Buffer>()
  const puts: string[] = []
  const server = createServer(async (request, response) => {
    const body = await buffer(request)
    if (s3.intercept(response, request)) return
    const refuse = (status: number, code: string) =>
      response
        .writeHead(status, { 'content-type': 'application/xml' })
        .end(`<Error><Code>${code}</Code><Message>${messages[code]}</Message></Error>`)
    if (!(await isSigned(request, body))) return void refuse(403, 'SignatureDoesNotMatch')
    const key = decodeURIComponent(request.url!.slice(1))
    if (request.method === 'PUT') {
      objects.set(key, body)
      puts.push(key)
      response.writeHead(200, { etag: '"1"' }).end()
    } else if (request.method === 'DELETE') {
      objects.delete(key)
      response.writeHead(204).end()
    } else if (request.method === 'GET' && objects.has(key)) response.writeHead(200).end(objects.get(key))
    else refuse(404, 'NoSuchKey')
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  const s3: S3Server = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    objects,
    puts,
    intercept: () => false,
    events: () =>
      [...objects]
        .filter(([key]) => key.endsWith('.ndjson.gz'))
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .flatMap(([, body]) => gunzipSync(body).toString().split('\n').filter(Boolean))
        .map((line) => JSON.parse(line)),
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      await new Promise((closed) => server.close(closed))
    },
  }
  return s3
}
