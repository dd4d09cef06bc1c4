import { referenceText } from '../../platform/http/reference-texts.ts'
import type { Operation, Parameter, Schema } from '../../platform/http/types.ts'
import { recordKinds } from '../../platform/values/errors.ts'

// What parameters and properties mean that are called the same in many operations. A description in the schema of a
// route takes precedence.

const collectionOf = (kind: string) => `${kind.toLowerCase().replace(' ', '-').replace(/ry$/, 'rie')}s`

/** The records in paths, by the collection before their id. */
const records = new Map(
  Object.entries(recordKinds).map(([prefix, kind]) => [collectionOf(kind), `${kind} (\`${prefix}_…\`)`]),
)
records.set('inbox', records.get('messages')!)

type PropertyDocs = { description: string; format?: string }
type FieldTexts = { parameters: Record<string, string>; properties: Record<string, string | PropertyDocs> }

const { parameters, properties }: FieldTexts = JSON.parse(referenceText('fields.json'))

/** Describes the parameters, request properties and responses that the schema of the route does not describe. */
export function describeOperation(path: string, operation: Operation): void {
  for (const parameter of operation.parameters ?? []) {
    const description = parameter.description ?? parameterDescription(path, parameter)
    if (description) parameter.description = description
  }
  for (const { schema } of Object.values(operation.requestBody?.content ?? {})) if (schema) describeProperties(schema)
  for (const [status, response] of Object.entries(operation.responses))
    if (response.description === 'Default Response') response.description = responseDescriptions[status] ?? 'Success.'
}

const responseDescriptions: Readonly<Record<string, string>> = {
  200: 'Success. The result is in `data`.',
  201: 'Created. The new record is in `data`.',
  202: 'Accepted. The work continues in the background.',
}

function parameterDescription(path: string, { name, in: place }: Parameter): string | undefined {
  if (place === 'path' && name === 'id') {
    const record = records.get(path.split('/{id}')[0]!.split('/').at(-1)!)
    return record && `The id of the ${record}.`
  }
  return parameters[name]
}

function describeProperties(schema: Schema): void {
  for (const [name, property] of Object.entries((schema.properties ?? {}) as Record<string, Schema>)) {
    const docs = properties[name]
    if (docs && property.description === undefined && !('$ref' in property)) {
      const { description, format } = typeof docs === 'string' ? { description: docs, format: undefined } : docs
      property.description = description
      if (format && [property.type].flat().includes('string')) property.format ??= format
    }
    describeProperties(property)
  }
  for (const part of [schema.items ?? [], schema.oneOf ?? [], schema.anyOf ?? []].flat() as Schema[])
    describeProperties(part)
}
