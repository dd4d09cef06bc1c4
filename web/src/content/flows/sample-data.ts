export type Context = Record<string, unknown>
/** The typed value of each variable, by its dotted name. */
export type Sample = Record<string, string>

/** Whether the variable comes from `context`, and not from the contact, the organization or Waxwing. */
export const isContextVariable = ({ name }: { name: string }): boolean =>
  !/^(?:contact|organization|brand|unsubscribe_url)(?:\.|$)/.test(name)

/** The keys that lead to a variable in the context. */
export const contextPath = (name: string): string[] => name.replace(/^context\./, '').split('.')

/** `order.id` and `context.order.id` become `{ order: { id } }`. Text that is a JSON list or object is parsed. */
export function toContext(sample: Sample, variables: readonly { name: string }[]): Context {
  const typed = variables.filter(isContextVariable).map(({ name }) => [name, sample[name] ?? ''])
  return withValues({}, Object.fromEntries(typed))
}

/** Returns the context with the typed values. An empty text removes the value; values without a text stay as they are. */
export const withValues = (context: Context, sample: Sample): Context =>
  Object.entries(sample).reduce((changed, [name, text]) => withValue(changed, contextPath(name), text), context)

function withValue(context: Context, [key = '', ...rest]: string[], text: string): Context {
  // Without a prototype: a variable may be called `__proto__`.
  const changed: Context = Object.assign(Object.create(null), context)
  const value = rest.length === 0 ? typedValue(text) : withValue(objectIn(changed[key]), rest, text)
  const isEmpty = value === '' || (rest.length > 0 && Object.keys(value as Context).length === 0)
  if (isEmpty) delete changed[key]
  else changed[key] = value
  return changed
}

const objectIn = (value: unknown) => (typeof value === 'object' && value !== null ? (value as Context) : {})

function typedValue(text: string): unknown {
  if (!/^\s*[[{]/.test(text)) return text
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** The texts of the fields for a saved context. */
export function sampleOf(context: Context, variables: readonly { name: string }[]): Sample {
  return Object.fromEntries(
    variables.map(({ name }) => {
      let value: unknown = context
      for (const key of contextPath(name))
        value = typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined
      return [
        name,
        value === undefined || value === null ? '' : typeof value === 'string' ? value : JSON.stringify(value),
      ]
    }),
  )
}
