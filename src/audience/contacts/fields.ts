import { invalid } from '../../platform/values/errors.ts'
import { isDeeperThan } from '../../platform/values/nesting.ts'
import { isLongerThan, isStorable, isStorableJson, unstorableProblem } from '../../platform/values/text.ts'
import type { Subscription } from './eligibility.ts'

// Limits of contact fields, for the API, the web app and imports.

export type Parsed<Value> = { ok: true; value: Value } | { ok: false; problem: string }

export type Attributes = Record<string, unknown>

export const nameMax = 200
export const attributeKeysMax = 100
export const attributesBytesMax = 16 * 1024
const attributesDepthMax = 10

const fail = (problem: string) => ({ ok: false, problem }) as const

/** Parses a name. The value is undefined if it is omitted, and '' if it is null or empty, which clears it. */
export function readName(input: unknown): Parsed<string | undefined> {
  if (input === undefined) return { ok: true, value: undefined }
  if (input === null) return { ok: true, value: '' }
  if (typeof input !== 'string') return fail('must be a string')
  const name = input.trim()
  if (isLongerThan(name, nameMax)) return fail(`must have at most ${nameMax} characters`)
  if (!isStorable(name)) return fail(unstorableProblem)
  return { ok: true, value: name }
}

/** Parses free-form attributes into JSON text. The value is undefined if they are omitted or null. */
export function readAttributes(input: unknown): Parsed<string | undefined> {
  if (input === undefined || input === null) return { ok: true, value: undefined }
  if (typeof input !== 'object' || Array.isArray(input)) return fail('must be an object')
  if (Object.keys(input).length > attributeKeysMax) return fail(`must have at most ${attributeKeysMax} keys`)
  if (isDeeperThan(input, attributesDepthMax)) return fail(`must be nested at most ${attributesDepthMax} levels deep`)
  const text = JSON.stringify(input)
  if (Buffer.byteLength(text) > attributesBytesMax) return fail(`must have at most ${attributesBytesMax} bytes as JSON`)
  if (!isStorableJson(text)) return fail(unstorableProblem)
  return { ok: true, value: text }
}

/**
 * The fields of a contact besides its address: `attributes` as JSON. Undefined leaves a field unchanged, and '' clears a
 * name.
 */
export type ContactFields = {
  firstName: string | undefined
  lastName: string | undefined
  attributes: string | undefined
}

/** Parses the fields of a request. Throws `Refusal` if one is invalid. */
export function parseFields(body: { first_name?: unknown; last_name?: unknown; attributes?: unknown }): ContactFields {
  return {
    firstName: checkedValue('first_name', readName(body.first_name)),
    lastName: checkedValue('last_name', readName(body.last_name)),
    attributes: checkedValue('attributes', readAttributes(body.attributes)),
  }
}

function checkedValue<Value>(path: string, parsed: Parsed<Value>): Value {
  if (!parsed.ok) throw invalid({ path, problem: parsed.problem })
  return parsed.value
}

/** What an update changed in a contact. Attributes are `[new]`, or `[new, previous]` if the contact had the attribute. */
export type ContactBefore = {
  first_name?: [previous: string | null, next: string | null] | null
  last_name?: [previous: string | null, next: string | null] | null
  subscription?: [previous: Subscription, next: Subscription] | null
  attributes?: Record<string, [next: unknown, previous?: unknown]> | null
}
