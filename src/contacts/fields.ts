import { isLongerThan, isStorable, isStorableJson, unstorableProblem } from '../values/text.ts'

// What the fields of a contact may hold, whoever gives them: a program, a person or a file.

export type Read<Value> = { ok: true; value: Value } | { ok: false; problem: string }

export type Attributes = Record<string, unknown>

export const nameMax = 200
export const attributeKeysMax = 100
export const attributesBytesMax = 16 * 1024
const attributesDepthMax = 10

const no = (problem: string) => ({ ok: false, problem }) as const

/** A name: undefined when it is left out, '' when it is given as null or empty, which clears it. */
export function readName(input: unknown): Read<string | undefined> {
  if (input === undefined) return { ok: true, value: undefined }
  if (input === null) return { ok: true, value: '' }
  if (typeof input !== 'string') return no('must be a string')
  const name = input.trim()
  if (isLongerThan(name, nameMax)) return no(`must have at most ${nameMax} characters`)
  if (!isStorable(name)) return no(unstorableProblem)
  return { ok: true, value: name }
}

/** Free-form attributes as JSON text; undefined when they are left out or null: there is nothing to merge then. */
export function readAttributes(input: unknown): Read<string | undefined> {
  if (input === undefined || input === null) return { ok: true, value: undefined }
  if (typeof input !== 'object' || Array.isArray(input)) return no('must be an object')
  const values = Object.values(input)
  if (values.length > attributeKeysMax) return no(`must have at most ${attributeKeysMax} keys`)
  // Before it is written as JSON, which would go as deep as the input does.
  if (!values.every((value) => isShallow(value, attributesDepthMax - 1)))
    return no(`must be nested at most ${attributesDepthMax} levels deep`)
  const text = JSON.stringify(input)
  if (Buffer.byteLength(text) > attributesBytesMax) return no(`must have at most ${attributesBytesMax} bytes as JSON`)
  if (!isStorableJson(text)) return no(unstorableProblem)
  return { ok: true, value: text }
}

function isShallow(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return true
  return levels > 0 && Object.values(value).every((inner) => isShallow(inner, levels - 1))
}
