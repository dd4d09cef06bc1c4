import type { Seeded } from '../seeded.ts'

/** The part of JSON Schema that the OpenAPI document uses. */
export type Schema = {
  type?: string | string[]
  properties?: Record<string, Schema>
  required?: string[]
  items?: Schema
  anyOf?: Schema[]
  oneOf?: Schema[]
  enum?: unknown[]
  const?: unknown
  minLength?: number
  maxLength?: number
  minimum?: number
  maximum?: number
  minItems?: number
  maxItems?: number
  format?: string
  additionalProperties?: Schema | boolean
}

const words = [
  'Ada',
  'order_id',
  'x',
  'emailOpen',
  'ada@example.com',
  'https://example.com/a?b=c',
  '2026-01-31',
  'Europe/Berlin',
  'active',
]

/** Texts that often break parsers, databases and encoders. */
const hostileTexts: ((random: Seeded) => string)[] = [
  () => '',
  () => ' ',
  () => '\u0000',
  () => '\ud800',
  () => '\u202e\u200b\ufeff',
  () => '💥'.repeat(50),
  () => "'; drop table contacts; --",
  () => '%00%0d%0aSet-Cookie: a=b',
  () => '\r\nX-Injected: 1\r\n\r\n',
  () => '../../../../etc/passwd',
  () => '{{ "a" | repeat }}{% for i in (1..100000) %}',
  () => '<script>alert(1)</script>',
  () => '__proto__',
  () => 'constructor',
  () => '9'.repeat(400),
  () => '-1',
  () => '1e309',
  () => 'NaN',
  () => '0x10',
  () => '2026-02-30',
  () => '9999-12-31T23:59:60Z',
  () => '+999999-01-01',
  () => 'a@b',
  () => `${'a'.repeat(64)}@${'b'.repeat(250)}.com`,
  () => '"a b"@example.com',
  () => 'http://127.0.0.1:1/',
  () => 'https://[::1]/',
  () => 'javascript:alert(1)',
  () => 'İSTANBUL@ÉXAMPLE.COM',
  (random) =>
    random.pick(['a', '_', ' ', '=', '<', '(', '\n', ',', '\\', '%']).repeat(random.pick([100, 5_000, 60_000])),
]

export const hostileText = (random: Seeded) => random.pick(hostileTexts)(random)

export function hostileValue(random: Seeded, depth = 0): unknown {
  switch (random.int(0, 9)) {
    case 0:
      return null
    case 1:
      return random.chance(0.5)
    case 2:
      return random.pick([0, -1, 1e308, -0.5, 2 ** 53, 2 ** 31, 1e-9])
    case 3:
      return depth > 3 ? [] : Array.from({ length: random.int(0, 5) }, () => hostileValue(random, depth + 1))
    case 4:
      return depth > 3
        ? {}
        : Object.fromEntries(
            Array.from({ length: random.int(0, 5) }, () => [
              hostileText(random).slice(0, 200),
              hostileValue(random, depth + 1),
            ]),
          )
    case 5:
      return nested(random, random.pick([10, 100, 1_000]))
    case 6:
      return Array.from({ length: random.pick([100, 2_000]) }, () => random.pick<unknown>([0, '', null, {}]))
    default:
      return hostileText(random)
  }
}

function nested(random: Seeded, depth: number): unknown {
  let value: unknown = 1
  for (let i = 0; i < depth; i++) value = random.chance(0.5) ? [value] : { a: value }
  return value
}

/** Returns a value that mostly matches the schema: fields are occasionally omitted, replaced or set to their limits. */
export function valueFor(schema: Schema | undefined, random: Seeded, wildness: number): unknown {
  if (!schema || random.chance(wildness)) return hostileValue(random)
  const choices = schema.anyOf ?? schema.oneOf
  if (choices) return valueFor(random.pick(choices), random, wildness)
  if (schema.const !== undefined) return schema.const
  if (schema.enum) return random.pick(schema.enum)
  switch ([schema.type].flat()[0]) {
    case 'object': {
      const fields = Object.entries(schema.properties ?? {}).filter(
        ([name]) => schema.required?.includes(name) || random.chance(0.6),
      )
      const known = Object.fromEntries(fields.map(([name, field]) => [name, valueFor(field, random, wildness)]))
      if (random.chance(wildness)) known[hostileText(random).slice(0, 100)] = hostileValue(random)
      return known
    }
    case 'array': {
      const most = Math.min(schema.maxItems ?? 5, random.chance(wildness) ? 500 : 4)
      return Array.from({ length: random.int(schema.minItems ?? 0, most) }, () =>
        valueFor(schema.items, random, wildness),
      )
    }
    case 'integer':
    case 'number':
      return random.pick([schema.minimum ?? 0, schema.maximum ?? 100, random.int(0, 100), (schema.maximum ?? 100) + 1])
    case 'boolean':
      return random.chance(0.5)
    case 'null':
      return null
    default:
      if (random.chance(wildness)) return hostileText(random)
      if (schema.maxLength && random.chance(0.05))
        return 'x'.repeat(Math.min(schema.maxLength + random.int(0, 1), 100_000))
      return random.pick(words)
  }
}

/** Mutates a text like a faulty or hostile sender: flips bytes, and duplicates, removes, swaps or replaces parts. */
export function mutate(text: string, random: Seeded, times = random.int(1, 4)): string {
  let changed = text
  for (let i = 0; i < times; i++) {
    const from = random.int(0, changed.length)
    const to = Math.min(changed.length, from + random.int(0, 40))
    const piece = changed.slice(from, to)
    switch (random.int(0, 5)) {
      case 0:
        changed = changed.slice(0, from) + changed.slice(to)
        break
      case 1:
        changed = changed.slice(0, from) + piece.repeat(random.pick([2, 3, 200])) + changed.slice(to)
        break
      case 2:
        changed = changed.slice(0, from) + hostileText(random) + changed.slice(to)
        break
      case 3:
        changed = changed.slice(0, from) + String.fromCharCode(random.int(0, 255)) + changed.slice(from + 1)
        break
      case 4:
        changed = changed.slice(0, from)
        break
      default:
        changed = changed.slice(0, from) + [...piece].reverse().join('') + changed.slice(to)
    }
  }
  return changed.slice(0, 1_000_000)
}
