import { isUtf8 } from 'node:buffer'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { enterSection } from '../runtime/event-loop.ts'
import { nextTurn } from '../runtime/pacer.ts'
import { Refusal } from '../values/errors.ts'

type Done = (error: Error | null, body?: unknown) => void
export type JsonParser = (request: FastifyRequest, body: Buffer, done: Done) => void

declare module 'fastify' {
  interface FastifyInstance {
    /** Returns who takes the turns that the work for a request needs: its organization, or the address of the client. */
    turnsOf(request: FastifyRequest): string
  }
}

/** Parsing and checking a shorter body takes less than 2 ms, whatever it contains. */
const cheapBytesMax = 8 * 1024
/** Parsing a megabyte takes 10 ms, if it is one text. */
const lengthOfOneTurn = 256 * 1024

/**
 * Costs are counted in numbers, and a million numbers take 40 ms to parse. An object or array costs 0.3 µs more. A name that
 * occurs for the first time costs 0.8 to 2 µs: 1.4 µs to parse, and 0.4 µs to look whether the schema knows it.
 */
const containerCost = 8
const nameCost = 40
/** 2 ms. What costs more is parsed in a turn of its own, and handled in the next one. */
const costOfOneTurn = 50_000
const costMax = 1_000_000

/** Accepts a content type without a body, as some clients send with DELETE. Prevents prototype pollution. */
export function createJsonParser(server: FastifyInstance): JsonParser {
  const parseAtOnce = server.getDefaultJsonParser('remove', 'remove')
  const parse = (request: FastifyRequest, body: Buffer, done: Done) => {
    const parseText = (text: string) => {
      enterSection(request.section)
      return new Promise((resolve, reject) => {
        void parseAtOnce(request, text, (error, value) => (error ? reject(error) : resolve(value)))
      })
    }
    const onParsed = (value: unknown) => {
      enterSection(request.section)
      done(null, value)
    }
    parseInTurns(body, server.turnsOf(request), parseText).then(onParsed, done)
  }
  return (request, body, done) => {
    if (body.length === 0 && !needsBody(request.routeOptions.schema?.body)) done(null, undefined)
    // Decoding would replace invalid bytes with U+FFFD, which would be stored.
    else if (!isUtf8(body)) done(new Refusal('invalid_json', 'The body is not valid JSON: it is not UTF-8.'))
    else if (body.length <= cheapBytesMax) void parseAtOnce(request, body.toString(), done)
    else parse(request, body, done)
  }
}

/**
 * Calls `parse` at once if that takes less than 2 ms, otherwise in a turn of its own, and resolves in the next one. `turns`: who
 * takes them. Throws `Refusal` if the body has too many values or field names.
 */
export async function parseInTurns<Value>(
  body: Buffer,
  turns: string,
  parse: (text: string) => Value | Promise<Value>,
): Promise<Value> {
  if (body.length <= cheapBytesMax) return parse(body.toString())
  const cost = parsingCostOf(body)
  if (cost > costMax) throw new Refusal('payload_too_large', 'The body has too many values or field names.')
  if (body.length <= lengthOfOneTurn && cost <= costOfOneTurn) return parse(body.toString())
  await nextTurn(turns)
  const value = await parse(body.toString())
  await nextTurn(turns)
  return value
}

/** Whether parsing the body and checking its fields takes less than 2 ms. */
export const isCheapJson = (body: Buffer): boolean =>
  body.length <= cheapBytesMax || (body.length <= lengthOfOneTurn && parsingCostOf(body) <= costOfOneTurn)

const quote = 0x22
const backslash = 0x5c
const [openBrace, openBracket, comma, colon] = [0x7b, 0x5b, 0x2c, 0x3a] as const

/** Counts what takes time to parse, outside of strings. Takes a millisecond per megabyte. */
function parsingCostOf(body: Buffer): number {
  let cost = 0
  for (let at = 0; at < body.length; at++) {
    const byte = body[at]
    if (byte === comma) cost++
    else if (byte === colon) cost += nameCost
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
