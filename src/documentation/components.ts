import type { ApiDocument, ResponseEntry, Schema } from './types.ts'

const refTo = (name: string): Schema => ({ $ref: `#/components/schemas/${name}` })

/**
 * Gives names to schemas that code generators cannot handle inline: the details of an error, and the kinds of conditions,
 * to which the discriminator of a filter maps.
 */
export function nameComponents({ components: { schemas } }: ApiDocument): void {
  const { Error: error, ContactFilter: filter } = schemas as Record<string, Schema>
  const fields = error!.properties as Record<string, Schema>
  schemas.ErrorDetail = fields.error!
  fields.error = refTo('ErrorDetail')

  const mapping: Record<string, string> = {}
  filter!.oneOf = (filter!.oneOf as Schema[]).map((condition) => {
    // Constants are documented as enums with one value.
    const [type] = (condition.properties as { type: { enum: [string] } }).type.enum
    const name = `${type[0]!.toUpperCase()}${type.slice(1)}Condition`
    schemas[name] = condition
    mapping[type] = `#/components/schemas/${name}`
    return refTo(name)
  })
  filter!.discriminator = { propertyName: 'type', mapping }
}

/** Removes the responses that no operation refers to. */
export function removeUnusedResponses(document: ApiDocument): void {
  const used = new Set(
    Object.values(document.paths)
      .flatMap((methods) => Object.values(methods))
      .flatMap(({ responses }) => Object.values(responses).map(({ $ref }) => $ref)),
  )
  const entries = Object.entries(document.components.responses ?? {}) as [string, ResponseEntry][]
  document.components.responses = Object.fromEntries(
    entries.filter(([name]) => used.has(`#/components/responses/${name}`)),
  )
}
