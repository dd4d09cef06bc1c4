export type Context = Record<string, unknown>
/** What the person typed for each variable, by its dotted name. */
export type Sample = Record<string, string>

/** The names that a context can give; the others are those of the contact, the organization and the mail itself. */
export const isOfContext = ({ name }: { name: string }): boolean =>
  !/^(?:contact|organization|unsubscribe_url)(?:\.|$)/.test(name)

/** `order.id` and `context.order.id` become `{ order: { id } }`. Text that reads as a JSON list or object is taken as one. */
export function toContext(sample: Sample, variables: readonly { name: string }[]): Context {
  // Without a prototype: a variable may be called `__proto__`.
  const context: Context = Object.create(null)
  for (const { name } of variables.filter(isOfContext)) {
    const text = sample[name]
    if (text === undefined || text === '') continue
    const parts = name.replace(/^context\./, '').split('.')
    const last = parts.pop()
    let at = context
    for (const part of parts) {
      const next = at[part]
      if (typeof next !== 'object' || next === null) at[part] = Object.create(null)
      at = at[part] as Context
    }
    if (last !== undefined) at[last] = typedValue(text)
  }
  return context
}

function typedValue(text: string): unknown {
  if (!/^\s*[[{]/.test(text)) return text
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
