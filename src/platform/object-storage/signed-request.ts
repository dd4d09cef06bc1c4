import { hash } from 'node:crypto'

/** A bucket of S3-compatible storage, and the key to access it. */
export type BucketAccess = {
  endpoint: string
  region: string
  bucket: string
  accessKeyId: string
  secretAccessKey: string
}

export type ObjectRequest =
  | { method: 'GET' | 'DELETE'; key: string }
  | { method: 'PUT'; key: string; body: Buffer; contentType: string }

export type SignedRequest = { url: string; headers: Record<string, string> }

/** The library that signs requests is loaded by the first one. */
export async function signRequest(access: BucketAccess, request: ObjectRequest): Promise<SignedRequest> {
  const { AwsV4Signer } = await import('aws4fetch')
  const { method, key } = request
  const isUpload = request.method === 'PUT'
  const signer = new AwsV4Signer({
    method,
    url: `${access.endpoint}/${access.bucket}/${key}`,
    headers: {
      ...(isUpload && { 'content-type': request.contentType }),
      'x-amz-content-sha256': hash('sha256', isUpload ? request.body : ''),
    },
    service: 's3',
    region: access.region,
    accessKeyId: access.accessKeyId,
    secretAccessKey: access.secretAccessKey,
  })
  const { url, headers } = await signer.sign()
  return { url: url.href, headers: Object.fromEntries(headers) }
}

const faultLengthMax = 300

/** Adds code and message of an error document of S3 to what is known already. */
export function describeFault(known: string, document: string): string {
  const parts = [/<Code>([^<]*)<\/Code>/, /<Message>([^<]*)<\/Message>/].flatMap(
    (part) => part.exec(document)?.[1] ?? [],
  )
  return [known, ...parts].join(': ').slice(0, faultLengthMax)
}
