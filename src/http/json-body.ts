import { isUtf8 } from 'node:buffer'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { enterSection } from '../runtime/event-loop.ts'
import { nextTurn } from '../runtime/pacer.ts'
import { Refusal } from '../values/errors.ts'

type Done = (error: Error | null, body?: unknown) => void
export type JsonParser = (request: FastifyRequest, body: Buffer, done: Done) => void

/** Parsing a megabyte takes 10 milliseconds. A longer body is parsed in a turn of its own, and handled in the next one. */
const lengthOfOneTurn = 256 * 1024

/** Accepts a content type without a body, as some clients send with DELETE. Prevents prototype pollution. */
export function createJsonParser(server: FastifyInstance): JsonParser {
  const parseAtOnce = server.getDefaultJsonParser('remove', 'remove')
  const parse = async (request: FastifyRequest, body: Buffer, done: Done) => {
    const turn = async () => {
      await nextTurn(request.ip)
      enterSection(request.section)
    }
    await turn()
    void parseAtOnce(request, body.toString(), (error, value) => void turn().then(() => done(error, value)))
  }
  return (request, body, done) => {
    if (body.length === 0 && !needsBody(request.routeOptions.schema?.body)) done(null, undefined)
    // Decoding would replace invalid bytes with U+FFFD, which would be stored.
    else if (!isUtf8(body)) done(new Refusal('invalid_json', 'The body is not valid JSON: it is not UTF-8.'))
    else if (body.length <= lengthOfOneTurn) void parseAtOnce(request, body.toString(), done)
    else void parse(request, body, done)
  }
}

const needsBody = (schema: unknown) =>
  schema !== undefined && ![(schema as { type?: unknown }).type].flat().includes('null')
