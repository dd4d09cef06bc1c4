import { parseInTurns } from '../../../platform/http/json-body.ts'
import { Refusal } from '../../../platform/values/errors.ts'

// Providers may change their formats, so they are read field by field, and an unexpected value counts as missing.

/** `turns`: who takes the turns in which a costly body is parsed. */
export const parseJson = (body: Buffer, turns: string): Promise<unknown> =>
  parseInTurns(body, turns, (text) => {
    try {
      return JSON.parse(text)
    } catch {
      throw new Refusal('invalid_json', 'The body is not valid JSON.')
    }
  })

export function at(value: unknown, ...path: string[]): unknown {
  return path.reduce<unknown>(
    (inner, key) =>
      typeof inner === 'object' && inner !== null && Object.hasOwn(inner, key)
        ? (inner as Record<string, unknown>)[key]
        : undefined,
    value,
  )
}

export function textAt(value: unknown, ...path: string[]): string | undefined {
  const found = at(value, ...path)
  return typeof found === 'string' && found !== '' ? found : undefined
}

export function numberAt(value: unknown, ...path: string[]): number | undefined {
  const found = at(value, ...path)
  return typeof found === 'number' && Number.isFinite(found) ? found : undefined
}

export function listAt(value: unknown, ...path: string[]): unknown[] {
  const found = at(value, ...path)
  return Array.isArray(found) ? found : []
}

/**
 * Parses a time given as ISO 8601 text or in seconds. Returns the current time if it is missing, invalid or in the
 * future.
 */
export function timeOf(value: unknown, now = new Date()): Date {
  const time = typeof value === 'number' ? new Date(value * 1000) : typeof value === 'string' ? new Date(value) : now
  return time.getTime() <= now.getTime() ? time : now
}
