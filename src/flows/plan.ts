import { Context, type Liquid, type Template, TokenKind, toValueSync } from 'liquidjs'
import type { Budget } from './budget.ts'
import { MeteredEmitter } from './engine.ts'
import { type Lookup, literalOf, lookupOf, patchRender, show } from './lookup.ts'
import type { Scope } from './values.ts'

type Step = { text: string } | { lookup: Lookup } | { nodes: Template[] }

/**
 * A parsed template, prepared to be rendered many times. Most of an email is text and single variables, which are
 * concatenated here; only the rest goes through the engine. An email of 5 KB with 50 variables takes 9 µs instead of
 * 230.
 */
export type Plan = { engine: Liquid; steps: readonly Step[] }

/** `locals` are the names that the template assigns; only the engine knows their values. */
export function planOf(
  engine: Liquid,
  templates: readonly Template[],
  locals: ReadonlySet<string>,
  isHtml: boolean,
): Plan {
  patchRender(templates, isHtml)
  const steps: Step[] = []
  for (const node of templates) {
    const last = steps.at(-1)
    const lookup = lookupOf(node, isHtml)
    if (node.token.kind === TokenKind.HTML) steps.push({ text: literalOf(node) })
    else if (lookup && !locals.has(lookup.name)) steps.push({ lookup })
    else if (last && 'nodes' in last) last.nodes.push(node)
    else steps.push({ nodes: [node] })
  }
  return { engine, steps }
}

/** Throws `OverBudget`, or any error of the engine. */
export function renderPlan({ engine, steps }: Plan, scope: Scope, budget: Budget): string {
  let text = ''
  let context: Context | undefined
  for (const step of steps) {
    if ('text' in step) text += step.text
    else if ('lookup' in step) {
      const shown = show(step.lookup, scope, budget)
      budget.use(shown.length)
      text += shown
    } else {
      context ??= contextOf(engine, scope, budget)
      const emitter = new MeteredEmitter(budget)
      text += toValueSync(engine.renderer.renderTemplates(step.nodes, context, emitter))
      // As in the engine, a break outside of a loop ends the template.
      if (context.breakCalled || context.continueCalled) return text
    }
  }
  return text
}

export function contextOf(engine: Liquid, scope: Scope, budget: Budget): Context {
  const limiter = budget as unknown as Context['memoryLimit']
  const limits = { memoryLimit: limiter, renderLimit: limiter, liquid: engine }
  // A copy, because `increment` writes into it.
  return new Context({ ...scope }, engine.options, { sync: true }, limits)
}
