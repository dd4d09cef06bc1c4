import { LiquidError, Tokenizer, TypeGuards } from 'liquidjs'
import type { Budget } from '../budget.ts'
import { Lines, type Problem, problemsMax, shortened, type TemplatePart } from '../problems.ts'
import { type Scope, suggestionFor } from '../values.ts'
import type { Variable } from '../variables.ts'
import { analyse } from './analyse.ts'
import { engineFor } from './engine.ts'
import { isProblems, parsePart } from './parse.ts'
import { type Outline, outlineOf, planOf, renderOutputs, renderPlan } from './plan.ts'

// The interface of this folder, which is the only one that uses liquidjs. It relies on behaviour that the library does
// not document; liquidjs.test.ts checks it for one version.

/** A part of an email, ready to be rendered many times. */
export type LiquidTemplate = {
  part: TemplatePart
  source: string
  variables: readonly Variable[]
  /** Every name that the template assigns. */
  locals: ReadonlySet<string>
  /** False if the template consists of text and single variables. */
  hasLogic: boolean
  /** Throws `OverBudget`, or an error of the template, for which `errorPosition` returns a position. */
  render(scope: Scope, budget: Budget): string
  outline: Outline
  /** Returns the outputs in the order of the outline; undefined if the template ends before its last. Throws like `render`. */
  renderOutputs(scope: Scope, budget: Budget): readonly string[] | undefined
}
export type { Outline } from './plan.ts'

/** Returns the problems of a template, as many at once as possible. */
export function findProblems(part: TemplatePart, source: string): Problem[] {
  const parsed = parsePart(engineOf(part), part, source)
  if (isProblems(parsed)) return parsed
  const lines = new Lines(source)
  return analyse(parsed)
    .unknownFields.slice(0, problemsMax)
    .map(({ object, field, position }) => {
      const suggestion = suggestionFor({ object, field })
      const message = `There is no ${object}.${field}.${suggestion ? ` Did you mean ${suggestion}?` : ''}`
      return { part, ...lines.at(position), message: shortened(message) }
    })
}

export class FaultyTemplate extends Error {
  readonly problems: readonly Problem[]
  constructor(problems: readonly Problem[]) {
    super(`The template does not parse: ${problems[0]?.message}`)
    this.problems = problems
  }
}

/** Throws `FaultyTemplate` if the template has problems. */
export function loadLiquid(part: TemplatePart, source: string): LiquidTemplate {
  const engine = engineOf(part)
  const nodes = parsePart(engine, part, source)
  if (isProblems(nodes)) throw new FaultyTemplate(nodes)
  const { variables, locals } = analyse(nodes)
  const plan = planOf(engine, nodes, locals, part === 'html')
  return {
    part,
    source,
    variables,
    locals,
    hasLogic: plan.hasLogic,
    render: (scope, budget) => renderPlan(plan, scope, budget),
    outline: outlineOf(plan),
    renderOutputs: (scope, budget) => {
      const { outputs, endsEarly } = renderOutputs(plan, scope, budget)
      return endsEarly ? undefined : outputs
    },
  }
}

/** A piece of a template: text, an output `{{ … }}` or a tag `{% … %}`. */
export type Piece = { kind: 'text' | 'output' | 'tag'; text: string; begin: number; end: number }

/** Splits a template into its pieces. Throws if a piece is not closed. */
export function piecesOf(source: string): Piece[] {
  const { options } = engineFor('html')
  const tokens = new Tokenizer(source, options.operators).readTopLevelTokens(options)
  return tokens.map((token) => ({
    kind: TypeGuards.isTagToken(token) ? 'tag' : TypeGuards.isOutputToken(token) ? 'output' : 'text',
    text: token.getText(),
    begin: token.begin,
    end: token.end,
  }))
}

/** Returns where in the source rendering failed, or undefined if the error did not come from the template. */
export const errorPosition = (error: unknown): number | undefined =>
  LiquidError.is(error) ? error.token.begin : undefined

const engineOf = (part: TemplatePart) => engineFor(part === 'html' || part === 'preheader' ? 'html' : 'text')
