/** The fields of a contact that are attributes start with it. */
export const attributePrefix = 'attributes.'

/** The name of the attribute in a field. It may contain dots. */
export const attributeOf = (field: string): string => field.slice(attributePrefix.length)
