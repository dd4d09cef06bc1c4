import { isUtf8 } from 'node:buffer'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { enterSection } from '../runtime/event-loop.ts'
import { nextTurn } from '../runtime/pacer.ts'
import { Refusal } from '../values/errors.ts'

type Done = (error: Error | null, body?: unknown) => void
export type JsonParser = (request: FastifyRequest, body: Buffer, done: Done) => void

/** Parsing a megabyte takes 10 milliseconds. A longer body is parsed in a turn of its own, and handled in the next one. */
const lengthOfOneTurn = 256 * 1024

/** Creating a nested object or array takes as long as parsing eight numbers, and a million numbers take 40 milliseconds. */
const costMax = 1_000_000
const containerCost = 8

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
    else if (parsingCostOf(body) > costMax) done(new Refusal('payload_too_large', 'The body has too many values.'))
    else void parse(request, body, done)
  }
}

const quote = 0x22
const backslash = 0x5c
const [openBrace, openBracket, comma] = [0x7b, 0x5b, 0x2c] as const

/** Counts what takes time to parse, outside of strings. Takes a millisecond per megabyte. */
function parsingCostOf(body: Buffer): number {
  let cost = 0
  for (let at = 0; at < body.length; at++) {
    const byte = body[at]
    if (byte === comma) cost++
    else if (byte === openBrace || byte === openBracket) cost += containerCost
    else if (byte === quote) {
      at++
      while (at < body.length && body[at] !== quote) at += body[at] === backslash ? 2 : 1
    }
  }
  return cost
}

const needsBody = (schema: unknown) =>
  schema !== undefined && ![(schema as { type?: unknown }).type].flat().includes('null')
