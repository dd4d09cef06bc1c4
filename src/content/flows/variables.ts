import { isMissing, type Path, readPath, reservedNames, scopeOf, type TemplateValues } from './values.ts'

/** A variable that a template reads, as the template names it. */
export type Variable = {
  name: string
  path: Path
  /** True if every output of it has a default or is inside a condition that tests it. */
  hasDefault: boolean
  /**
   * For each use without a default: the paths that must be missing as well before this variable counts as missing (`{{
   * nickname | default: name }}`).
   */
  insteadOf: readonly (readonly Path[])[]
}

type Reading = { variables: readonly Variable[] }

/** Merges the variables of several parts. */
export function mergeVariables(parts: readonly (readonly Variable[])[]): Variable[] {
  const merged = new Map<string, Variable>()
  for (const variable of parts.flat()) {
    const earlier = merged.get(variable.name)
    merged.set(variable.name, {
      ...variable,
      hasDefault: variable.hasDefault && (earlier?.hasDefault ?? true),
      insteadOf: [...(earlier?.insteadOf ?? []), ...variable.insteadOf],
    })
  }
  return [...merged.values()]
}

/** Returns the variables that are used without a default and provided neither by the context nor by the contact. */
export function missingVariables({ variables }: Reading, values: TemplateValues): string[] {
  const scope = scopeOf(values)
  const lacks = ({ path, insteadOf }: Variable) =>
    (readPath(scope, path) ?? null) === null &&
    insteadOf.some((paths) => paths.every((other) => isMissing(readPath(scope, other))))
  return variables
    .filter(({ hasDefault }) => !hasDefault)
    .filter(lacks)
    .map(({ name }) => name)
}

/** Returns the context keys that the template never reads, for a warning to the sender. */
export function unusedContextKeys({ variables }: Reading, context: TemplateValues['context']): string[] {
  const used = new Set<unknown>()
  for (const { path } of variables) {
    if (path[0] === 'context' && path.length === 1) return []
    used.add(path[0] === 'context' ? path[1] : path[0])
  }
  const fromContext = new Set(variables.filter(({ path }) => path[0] === 'context').map(({ path }) => path[1]))
  return Object.keys(context).filter((key) => (reservedNames.includes(key) ? !fromContext.has(key) : !used.has(key)))
}
