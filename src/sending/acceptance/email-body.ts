import type { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { keyOf } from '../../accounts/accounts.ts'
import { smallFile, smallFileBytesMax } from '../../content/content.ts'
import { createJsonParser } from '../../platform/http/json-body.ts'
import { JsonWithFiles } from '../../platform/http/json-with-files.ts'
import { enterSection } from '../../platform/runtime/event-loop.ts'
import { atMinimumRate } from '../../platform/runtime/minimum-rate.ts'
import { Pacer } from '../../platform/runtime/pacer.ts'
import { Refusal } from '../../platform/values/errors.ts'
import type { Upload, Uploads } from '../attachments/uploads.ts'
import { attachmentBytesMax, type ReceivedFiles, tooLarge } from './attachment-input.ts'

/** A larger body is read as it arrives. */
const smallBytesMax = smallFileBytesMax
/** Attachments of 15 MB in base64, and everything else. */
const bodyBytesMax = 26 * 1024 * 1024
/** Everything but the attachments. HTML and text have at most 1 MB each, before they are escaped. */
const textBytesMax = 5 * 1024 * 1024
/** A batch of 100 emails with all that is allowed has 25,000. Parsing this many takes 40 milliseconds. */
const valuesMax = 35_000
/** A client that sends more slowly is disconnected, because few large bodies are received at the same time. */
const minimumRate = { bytesPerSecond: 20_000, graceMs: 20_000 }
/** The context of a flow may have 50 levels. */
const depthMax = 60

declare module 'fastify' {
  interface FastifyRequest {
    /** The files of a large body, which is read as it arrives. Null for a small one. */
    upload: { reading: Promise<unknown>; files: Upload } | null
  }
}

type Done = (error: Error | null, body?: unknown) => void

/** The value of `content` in an attachment of an email, or of an email in an array. */
const isAttachment = (path: readonly string[]) =>
  (path.length === 3 || (path.length === 4 && path[0] === '[]')) &&
  path.at(-1) === 'content' &&
  path.at(-2) === '[]' &&
  path.at(-3) === 'attachments'

/**
 * Lets the routes of `api` accept bodies with attachments. A body of up to `smallBytesMax` is parsed as a whole. A larger one
 * is read as it arrives, and its files are stored; only a few of them at the same time.
 */
export function acceptAttachments(api: FastifyInstance, uploads: Uploads): void {
  const parseJson = createJsonParser(api)
  api.decorateRequest('upload', null)
  api.addHook('onRequest', (request, reply, done) => {
    finishWhenClosed(request, reply)
    done()
  })
  api.removeContentTypeParser('application/json')
  api.addContentTypeParser('application/json', (request, payload, done) => {
    const length = Number(request.headers['content-length'])
    if (length > bodyBytesMax) done(bodyTooLarge())
    else if (length <= smallBytesMax) collect(payload, (body) => parse(request, body, done), done)
    else
      readLarge(request, payload, uploads).then(
        (text) => parse(request, Buffer.from(text), done),
        (error) => done(error),
      )
  })
  const parse = (request: FastifyRequest, body: Buffer, done: Done) => {
    enterSection(request.section)
    parseJson(request, body, done)
  }
}

/** A connection may be closed before the request is answered. */
function finishWhenClosed(request: FastifyRequest, reply: FastifyReply): void {
  reply.raw.once('close', () => {
    const { upload } = request
    if (upload) void upload.reading.catch(() => {}).then(() => upload.files.finish())
  })
}

/** Node.js ensures that the body is not longer than its Content-Length. */
function collect(payload: Readable, onEnd: (body: Buffer) => void, onError: (error: Error) => void): void {
  const parts: Buffer[] = []
  payload.on('data', (part: Buffer) => parts.push(part))
  payload.on('end', () => onEnd(parts.length === 1 ? parts[0]! : Buffer.concat(parts)))
  payload.on('error', onError)
}

async function readLarge(request: FastifyRequest, payload: Readable, uploads: Uploads): Promise<string> {
  const files = await uploads.begin(keyOf(request).organizationId)
  const reading = request.raw.socket.destroyed
    ? Promise.reject(disconnected())
    : readWithFiles(payload, files, new Pacer(keyOf(request).organizationId))
  request.upload = { reading, files }
  reading.catch(() => files.finish())
  return reading
}

async function readWithFiles(payload: Readable, files: Upload, pacer: Pacer): Promise<string> {
  const reader = new JsonWithFiles({
    isFile: isAttachment,
    openFile: () => files.openFile(attachmentBytesMax, tooLarge),
    textBytesMax,
    valuesMax,
    depthMax,
  })
  let received = 0
  // Kept open if the body is rejected, so that the client can read the response.
  const parts = payload.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>
  for await (const part of atMinimumRate(parts, minimumRate, () => payload.destroy(disconnected()))) {
    if (pacer.isDue) await pacer.turn()
    received += part.length
    if (received > bodyBytesMax) throw bodyTooLarge()
    await reader.write(part)
  }
  return reader.end()
}

const disconnected = () => new Refusal('unavailable', 'The connection was closed.')
const bodyTooLarge = () =>
  new Refusal(
    'payload_too_large',
    `The body exceeds ${bodyBytesMax / 1024 / 1024} MB. Attachments may have 15 MB together.`,
  )

const base64 = /^[\w+/-]*={0,2}$/

/** Returns the files of the request by the value of `content`, which is their number if the body was large. */
export function receivedFiles({ upload }: FastifyRequest): ReceivedFiles {
  if (upload) return (content) => upload.files.get(Number(content)) ?? { problem: 'must be base64' }
  return (content) => {
    const text = content.replace(/\s/g, '')
    const isWrong = !base64.test(text) || text.replace(/=+$/, '').length % 4 === 1
    return isWrong ? { problem: 'must be base64' } : { file: smallFile(Buffer.from(text, 'base64')) }
  }
}
