import { hash } from 'node:crypto'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'

const brotliQuality = 5

type Encoding = 'identity' | 'gzip' | 'br'

/** A page, script or style sheet of the documentation, compressed once. `version` is a hash of its content. */
export type DocumentFile = { type: string; version: string; bodies: Record<Encoding, Buffer> }

/** Compresses a text. Runs in the libuv thread pool. */
export async function documentFile(type: string, text: string): Promise<DocumentFile> {
  const identity = Buffer.from(text)
  const [gzipped, br] = await Promise.all([
    promisify(gzip)(identity),
    promisify(brotliCompress)(identity, { params: { [constants.BROTLI_PARAM_QUALITY]: brotliQuality } }),
  ])
  return { type, version: hash('sha256', identity, 'hex').slice(0, 16), bodies: { identity, gzip: gzipped, br } }
}

/** Sends a file in the best encoding that the client accepts, or 304 if the client has it. */
export function sendDocumentFile(
  request: FastifyRequest,
  reply: FastifyReply,
  file: DocumentFile,
  headers: Record<string, string>,
): FastifyReply {
  const etag = `"${file.version}"`
  // Pages reference their scripts with a version, so the content of such a URL never changes.
  const isVersioned = (request.query as { v?: unknown }).v === file.version
  reply.headers({
    etag,
    vary: 'accept-encoding',
    'cache-control': isVersioned ? 'public, max-age=31536000, immutable' : 'no-cache',
    ...headers,
  })
  const known = request.headers['if-none-match']?.split(',').map((tag) => tag.trim().replace(/^W\//, ''))
  if (known?.includes(etag)) return reply.status(304).send()
  const encoding = encodingFor(request.headers['accept-encoding'])
  if (encoding !== 'identity') reply.header('content-encoding', encoding)
  return reply.type(file.type).send(file.bodies[encoding])
}

function encodingFor(accepted: string | string[] | undefined): Encoding {
  const names = String(accepted ?? '')
    .split(',')
    .filter((part) => !/;\s*q=0(\.0*)?\s*$/.test(part))
    .map((part) => part.split(';', 1)[0]!.trim().toLowerCase())
  return names.includes('br') ? 'br' : names.includes('gzip') ? 'gzip' : 'identity'
}
