export type Context = Record<string, unknown>
/** The typed value of each variable, by its dotted name. */
export type Sample = Record<string, string>

/** Whether the variable comes from `context`, and not from the contact, the organization or Waxwing. */
export const isContextVariable = ({ name }: { name: string }): boolean =>
  !/^(?:contact|organization|unsubscribe_url)(?:\.|$)/.test(name)

/** `order.id` and `context.order.id` become `{ order: { id } }`. Text that is a JSON list or object is parsed. */
export function toContext(sample: Sample, variables: readonly { name: string }[]): Context {
  // Without a prototype: a variable may be called `__proto__`.
  const context: Context = Object.create(null)
  for (const { name } of variables.filter(isContextVariable)) {
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
