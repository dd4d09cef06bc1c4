import { invalid, Refusal } from '../../platform/values/errors.ts'
import { isDeeperThan } from '../../platform/values/nesting.ts'
import { isStorableJson, unstorableProblem } from '../../platform/values/text.ts'

const contextBytesMax = 64 * 1024
const contextDepthMax = 50

/** Throws `Refusal` if the context is too large or too deep. */
export function contextAsText(context: Record<string, unknown>): string {
  if (isDeeperThan(context, contextDepthMax))
    throw invalid({ path: 'context', problem: `must be nested at most ${contextDepthMax} levels deep` })
  const text = JSON.stringify(context)
  if (Buffer.byteLength(text) > contextBytesMax)
    throw invalid({ path: 'context', problem: 'must be at most 64 KiB as JSON' })
  if (!isStorableJson(text)) throw invalid({ path: 'context', problem: unstorableProblem })
  return text
}

export const warningsOf = (unused: readonly string[]) =>
  unused.map((key) => `The template does not use the context key "${key}".`)

/** Names under `contact` belong to the contact; the context cannot provide them. */
export function missingRefusal(names: string[]): Refusal {
  const contactVariables = names.filter((name) => name.startsWith('contact.'))
  const others = names.filter((name) => !contactVariables.includes(name))
  const sentences = [
    others.length > 0 && `The template requires ${list.format(others)}. Add ${themOf(others)} to the context.`,
    contactVariables.length > 0 &&
      `The contact has no ${list.format(contactVariables)}. Set ${themOf(contactVariables)} on the contact, or add a default to the template.`,
  ]
  return new Refusal('missing_variables', sentences.filter(Boolean).join(' '), {
    fields: names.map((name) => ({
      path: /^(?:contact|context)\./.test(name) ? name : `context.${name}`,
      problem: 'is required by the template and has no default',
    })),
  })
}

const list = new Intl.ListFormat('en')
const themOf = (names: string[]) => (names.length === 1 ? 'it' : 'them')
