import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { brotliCompress, constants, gunzip, gzip } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'

type Encoding = 'identity' | 'gzip' | 'br'

/** A page, script or style sheet of the documentation. `version` changes with its content. */
export type DocumentFile = { type: string; version: string; body: (encoding: Encoding) => Promise<Buffer> }

/** The content is on disk as `.br` and `.gz`. Clients that accept neither are rare. */
export const storedBody =
  (path: string): DocumentFile['body'] =>
  async (encoding) => {
    if (encoding === 'br') return readFile(`${path}.br`)
    const compressed = await readFile(`${path}.gz`)
    return encoding === 'gzip' ? compressed : promisify(gunzip)(compressed)
  }

/** The content is made from a stored file when it is first requested. Compression runs in the libuv thread pool. */
export function madeBody(path: string, make: (text: string) => string): DocumentFile['body'] {
  const bodies: Partial<Record<Encoding, Promise<Buffer>>> = {}
  const body = (encoding: Encoding): Promise<Buffer> => {
    bodies[encoding] ??= encode(encoding)
    return bodies[encoding]
  }
  const encode = async (encoding: Encoding) => {
    if (encoding === 'identity') return Buffer.from(make((await storedBody(path)('identity')).toString()))
    const content = await body('identity')
    if (encoding === 'gzip') return promisify(gzip)(content)
    return promisify(brotliCompress)(content, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } })
  }
  return body
}

/** Sends a file in the best encoding that the client accepts, or 304 if the client has it. */
export async function sendDocumentFile(
  request: FastifyRequest,
  reply: FastifyReply,
  file: DocumentFile,
  headers: Record<string, string>,
): Promise<FastifyReply> {
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
  return reply.type(file.type).send(await file.body(encoding))
}

function encodingFor(accepted: string | string[] | undefined): Encoding {
  const names = String(accepted ?? '')
    .split(',')
    .filter((part) => !/;\s*q=0(\.0*)?\s*$/.test(part))
    .map((part) => part.split(';', 1)[0]!.trim().toLowerCase())
  return names.includes('br') ? 'br' : names.includes('gzip') ? 'gzip' : 'identity'
}
