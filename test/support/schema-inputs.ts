import { type Seeded, seeded } from './seeded.ts'

/** A JSON schema as the API document has it. */
export type Schema = {
  $ref?: string
  type?: string | string[]
  enum?: unknown[]
  const?: unknown
  anyOf?: Schema[]
  oneOf?: Schema[]
  allOf?: Schema[]
  properties?: Record<string, Schema>
  required?: string[]
  items?: Schema
  additionalProperties?: boolean | Schema
  patternProperties?: Record<string, Schema>
  maxLength?: number
  maxItems?: number
  minItems?: number
  minimum?: number
  format?: string
  pattern?: string
}

export type Resolve = (schema: Schema) => Schema

/** Texts that once took long to read, repeated to the length of a field. */
const hostileTexts = [
  'x',
  ' ',
  '<',
  '<p>x',
  '<a href="//x.y/z">',
  '<blockquote>x',
  '&#x41;',
  '=',
  '"',
  '\\',
  '(',
  'a@b.cc,',
  'a.',
  '{{ a }}',
  '{% if a %}',
  '{% for a in b %}',
  '[if mso]><!--',
  '<mj-text>',
  '=?utf-8?q?=C3=BC?= ',
  'Ü ',
  '\u0000',
  '\ud800',
  '\n',
  '\r\n--',
  'user ',
  '550-5.1.1 ',
  '%',
  '-_',
  '../',
  'https://',
  '0',
  '🙂',
  ',',
  'a,"',
] as const

const sampleEmail = 'ada@example.com'
/** A name full of spaces: parsing it once took quadratic time. */
const longMailbox = `a ${' '.repeat(190)}b <x@y.co>`
const depthMax = 6

/** Values of fields with these names, for which the schema does not say what is valid. */
export type Known = (name: string) => string | undefined

type Choice = {
  text: (schema: Schema, name: string) => string
  items: (schema: Schema, depth: number) => number
  isFull: boolean
}

/** Returns a value for the schema. `isFull`: with optional properties, and with the last of several alternatives. */
function inputFor(schema: Schema, resolve: Resolve, choice: Choice, name = '', depth = 0): unknown {
  const found = resolve(schema)
  if (found.const !== undefined) return found.const
  if (found.enum) return found.enum[0]
  const alternatives = found.anyOf ?? found.oneOf
  if (alternatives) {
    const given = alternatives.filter((each) => resolve(each).type !== 'null')
    return inputFor(given[choice.isFull && depth < depthMax ? given.length - 1 : 0]!, resolve, choice, name, depth)
  }
  const types = [found.type ?? (found.properties ? 'object' : 'string')].flat()
  const type = choice.isFull && types.includes('array') ? 'array' : types[0]
  switch (type) {
    case 'object':
      return objectOf(found, resolve, choice, depth)
    case 'array': {
      if (depth >= depthMax) return []
      const item = inputFor(found.items ?? {}, resolve, choice, name, depth + 1)
      return Array.from({ length: Math.max(found.minItems ?? 0, choice.items(found, depth)) }, () => item)
    }
    case 'integer':
    case 'number':
      return found.minimum ?? 1
    case 'boolean':
      return true
    case 'null':
      return null
    default:
      return choice.text(found, name)
  }
}

function objectOf(schema: Schema, resolve: Resolve, choice: Choice, depth: number): Record<string, unknown> {
  const wanted = Object.entries(schema.properties ?? {}).filter(
    ([name]) => schema.required?.includes(name) || (choice.isFull && depth < depthMax),
  )
  return Object.fromEntries(wanted.map(([name, each]) => [name, inputFor(each, resolve, choice, name, depth + 1)]))
}

/** A value that people would send: short, and valid wherever the schema and the names say enough. */
export const sampleOf = (schema: Schema, resolve: Resolve, known: Known, isFull = false): unknown =>
  inputFor(schema, resolve, { text: sampleText(known), items: () => 1, isFull })

const sampleText =
  (known: Known) =>
  ({ format }: Schema, name: string): string => {
    const value = known(name)
    if (value !== undefined) return value
    if (/email|^(?:to|from|cc|bcc|reply_to)$/.test(name)) return sampleEmail
    if (format === 'date-time' || /_at$|since|until/.test(name)) return '2027-01-01T00:00:00Z'
    if (/url|endpoint/.test(name)) return 'https://example.com/x'
    if (/^html$/.test(name)) return '<p>Hello</p>'
    if (/domain|^host$/.test(name)) return 'mail.example.com'
    return 'sample'
  }

export type SizedInput = { name: string; body: () => string }

/** Inputs of about `bytes` for a body of this schema: of each shape one, with texts and names chosen by `random`. */
export function* inputsOf(
  schema: Schema,
  { resolve, known, bytes, random }: { resolve: Resolve; known: Known; bytes: number; random: Seeded },
): Generator<SizedInput> {
  const sample = sampleOf(schema, resolve, known)
  const isArray = Array.isArray(sample)
  const first = (isArray ? sample[0] : sample) as Record<string, unknown>
  /** A body whose object has further fields; of an array, its first element. */
  const withFields = (more: string) => {
    const text = JSON.stringify(first ?? {})
    const object = text === '{}' ? `{${more}}` : `${text.slice(0, -1)},${more}}`
    return isArray ? `[${object}]` : object
  }
  const left = bytes - JSON.stringify(first ?? {}).length - 10
  const repeated = (text: string, length: number) => text.repeat(Math.max(1, Math.floor(length / text.length)))
  const unknown = (nameLength: number, value: string, count = Math.floor(left / (nameLength + value.length + 4))) =>
    withFields(
      Array.from(
        { length: Math.min(count, valuesMax) },
        (_, at) => `"${`${at}`.padEnd(nameLength, 'x')}":${value}`,
      ).join(','),
    )
  yield { name: 'unknown fields', body: () => unknown(88, '1') }
  yield { name: 'short unknown fields', body: () => unknown(8, '1') }
  yield { name: 'as many unknown fields as are parsed', body: () => unknown(6, '1', Math.min(namesMax, left / 11)) }
  yield { name: 'unknown fields with long names', body: () => unknown(Math.min(50_000, left / 4), '1') }
  yield { name: 'a field name of hyphens', body: () => withFields(`"${'-'.repeat(left - 10)}":1`) }
  yield { name: 'deep arrays', body: () => withFields(`"x":${'['.repeat(left / 2)}${']'.repeat(left / 2)}`) }
  yield { name: 'deep objects', body: () => withFields(`"x":${'{"a":'.repeat(left / 6)}1${'}'.repeat(left / 6)}`) }
  yield {
    name: 'small objects',
    body: () => withFields(`"x":[${repeated('{},', Math.min(left - 10, valuesMax * 3))}{}]`),
  }
  yield { name: 'not an object', body: () => `[${repeated('0,', Math.min(left, valuesMax * 2))}0]` }
  yield { name: 'an open string', body: () => `{"x":"${'x'.repeat(left - 10)}` }

  const texts = stringsIn(schema, resolve)
  const build = (choice: Omit<Choice, 'isFull'>) =>
    JSON.stringify(inputFor(schema, resolve, { ...choice, isFull: true }))
  /** Escapes may make a text six times as long as intended. */
  const fitting = (buildScaled: (scale: number) => string): string => {
    for (let scale = 1; scale > 1e-4; scale /= 2) {
      const text = buildScaled(scale)
      if (text.length <= bytes) return text
    }
    return '{}'
  }
  for (const text of hostileTexts) {
    // Otherwise nothing is done after the first field that is not valid.
    const keepsOthers = random.chance(0.7)
    yield {
      name: `texts of ${JSON.stringify(text)}`,
      body: () =>
        fitting((scale) => {
          const long = ({ maxLength = Number.POSITIVE_INFINITY }: Schema) =>
            repeated(text, Math.min(maxLength, (scale * left) / texts))
          const isKept = (name: string) => keepsOthers && identifying.test(name)
          return build({
            text: (field, name) => (isKept(name) ? sampleText(known)(field, name) : long(field)),
            items: () => 1,
          })
        }),
    }
  }
  // The same each time the body is built.
  const chosen = random.int(0, 0xffffff)
  const textFor = (name: string) => seeded(chosen + name.length).pick(hostileTexts)
  const lists: [string, Choice['text']][] = [
    ['arrays of valid items', sampleText(known)],
    ['arrays of long mailboxes', (field, name) => known(name) ?? (field.enum ? '' : longMailbox)],
    [
      'arrays of short texts',
      (field, name) => known(name) ?? repeated(textFor(name), Math.min(20, field.maxLength ?? 20)),
    ],
  ]
  const itemsOf = (length: number) => {
    // Lists in lists would otherwise multiply.
    return ({ maxItems = 100_000 }: Schema, depth: number) => Math.min(maxItems, depth < 2 ? length / 50 : 50)
  }
  for (const [name, text] of lists)
    yield {
      name,
      body: () => fitting((scale) => build({ text, items: itemsOf(scale * left) })),
    }
  // Objects that take any field, such as headers, attributes and contexts, each with as many as fit.
  for (const [name, property] of Object.entries(propertiesOf(schema, resolve))) {
    const field = resolve(property)
    const types = [field.type ?? []].flat()
    if (types.includes('object') || field.additionalProperties || field.patternProperties) {
      const entry = (at: number) => `"${`X-${at}`.padEnd(80, 'x')}":"${'y'.repeat(70)}"`
      const entries = () => Array.from({ length: Math.min(left / 165, valuesMax / 2) }, (_, at) => entry(at)).join(',')
      yield { name: `${name} of many entries`, body: () => withFields(`"${name}":{${entries()}}`) }
    }
    if (types.includes('array') || field.items)
      for (const item of ['0', 'null', '[]', '""', '{}', '"00000000-0000-4000-8000-000000000000"'])
        yield {
          name: `${name} full of ${item}`,
          body: () =>
            withFields(
              `"${name}":[${repeated(`${item},`, Math.min(left - 50, valuesMax * (item.length + 1)))}${item}]`,
            ),
        }
  }
}

/** Fields that decide whether the rest of a request is read. */
const identifying = /_id$|email|^(?:from|to|cc|bcc|reply_to|send_at|kind)$/

/** Bodies with a few thousand names more are rejected before they are parsed. */
const namesMax = 22_000

/** Routes with attachments accept as many values. */
const valuesMax = 33_000

const propertiesOf = (schema: Schema, resolve: Resolve): Record<string, Schema> => {
  const found = resolve(schema)
  if (found.items) return propertiesOf(found.items, resolve)
  const parts = [...(found.anyOf ?? []), ...(found.oneOf ?? []), ...(found.allOf ?? [])]
  return Object.assign({}, found.properties, ...parts.map((each) => propertiesOf(each, resolve)))
}

function stringsIn(schema: Schema, resolve: Resolve): number {
  let count = 0
  const text = () => {
    count++
    return ''
  }
  inputFor(schema, resolve, { text, items: () => 1, isFull: true })
  return Math.max(1, count)
}
