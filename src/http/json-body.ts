import { isUtf8 } from 'node:buffer'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { Refusal } from '../values/errors.ts'

type Done = (error: Error | null, body?: unknown) => void
export type JsonParser = (request: FastifyRequest, body: Buffer, done: Done) => void

/** Accepts a content type without a body, as some clients send with DELETE. Prevents prototype pollution. */
export function createJsonParser(server: FastifyInstance): JsonParser {
  const parse = server.getDefaultJsonParser('remove', 'remove')
  return (request, body, done) => {
    if (body.length === 0 && !needsBody(request.routeOptions.schema?.body)) done(null, undefined)
    // Decoding would replace invalid bytes with U+FFFD, which would be stored.
    else if (!isUtf8(body)) done(new Refusal('invalid_json', 'The body is not valid JSON: it is not UTF-8.'))
    else void parse(request, body.toString(), done)
  }
}

const needsBody = (schema: unknown) =>
  schema !== undefined && ![(schema as { type?: unknown }).type].flat().includes('null')
