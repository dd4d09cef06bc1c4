import {
  CaptureTag,
  type Context,
  defaultOperators,
  type Emitter,
  evalTokenValue,
  Liquid,
  LiquidTag,
  type Operators,
  type Parser,
  Tag,
  type TagToken,
  type TopLevelToken,
  toValue,
} from 'liquidjs'
import { type Budget, elementUnits } from '../budget.ts'
import { escapeHtml } from '../html-entities.ts'
import { budgetOf, Captured, countSearch, filtersFor } from './filters.ts'
import { textOf } from './text-of.ts'

const liquidLinesMax = 1_000
// Far below 2^53, where adding one has no effect and the loop of the engine over a range would never end.
const rangeBoundMax = 1e9

export type Output = 'html' | 'text'

const engines = new Map<Output, Liquid>()

/** One engine for HTML and one for texts and subjects, created on first use. */
export function engineFor(output: Output): Liquid {
  const engine = engines.get(output) ?? createEngine(output)
  engines.set(output, engine)
  return engine
}

/**
 * Creates a Liquid engine that reads no files, sees own properties only, has no filters and tags except those listed,
 * escapes output in HTML, and counts its work against the `Budget` in its context.
 */
function createEngine(output: Output): Liquid {
  const engine = new Liquid({
    // An empty map of templates replaces the file system, so no tag can read files.
    templates: {},
    ownPropertyOnly: true,
    strictFilters: true,
    operators: meteredOperators(),
    outputEscape: output === 'html' ? showInHtml : showInText,
    // Independent of the time zone and language of the machine.
    timezoneOffset: 0,
    locale: 'en-US',
  })
  const filters = filtersFor(output)
  for (const name of Object.keys(engine.filters)) if (!(name in filters)) engine.unregisterFilter(name)
  for (const [name, filter] of Object.entries(filters)) engine.registerFilter(name, filter)
  for (const name of ['include', 'render', 'layout', 'block']) engine.registerTag(name, FileTag)
  engine.registerTag('capture', MeteredCaptureTag)
  engine.registerTag('liquid', BoundedLiquidTag)
  engine.registerTag('#', CommentLineTag)
  return engine
}

type InFilter = { context: Context }

function showInHtml(this: InFilter, value: unknown): string {
  if (value instanceof Captured) return value.valueOf()
  return escapeHtml(textOf(value, budgetOf(this.context)))
}

function showInText(this: InFilter, value: unknown): string {
  return textOf(value, budgetOf(this.context))
}

/** Collects and counts the output of nodes. */
export class MeteredEmitter implements Emitter {
  buffer = ''
  readonly #budget: Budget
  constructor(budget: Budget) {
    this.#budget = budget
  }
  write(html: unknown): void {
    const text = textOf(html, this.#budget)
    this.#budget.use(text.length)
    this.buffer += text
  }
}

class FileTag extends Tag {
  constructor(token: TagToken, remaining: TopLevelToken[], liquid: Liquid) {
    super(token, remaining, liquid)
    throw new Error(`the tag "${token.name}" is not available: templates cannot include others`)
  }
  render(): void {}
}

class MeteredCaptureTag extends CaptureTag {
  override *render(context: Context): Generator<unknown, void, string> {
    const text = yield this.liquid.renderer.renderTemplates(
      this.templates,
      context,
      new MeteredEmitter(budgetOf(context)),
    )
    context.bottom()[this.variable] = new Captured(text)
  }
}

class BoundedLiquidTag extends LiquidTag {
  constructor(token: TagToken, remaining: TopLevelToken[], liquid: Liquid, parser: Parser) {
    if (token.args.split('\n', liquidLinesMax + 1).length > liquidLinesMax)
      throw new Error(`the tag "liquid" has more than ${liquidLinesMax} lines`)
    super(token, remaining, liquid, parser)
  }
}

/** The engine's check of such a comment takes quadratic time, so the lines are checked here. */
class CommentLineTag extends Tag {
  constructor(token: TagToken, remaining: TopLevelToken[], liquid: Liquid) {
    super(token, remaining, liquid)
    const lines = token.args.split('\n').slice(1)
    if (lines.some((line) => line.trim() !== '' && !line.trimStart().startsWith('#')))
      throw new Error('every line of the comment must start with a #')
  }
  render(): void {}
}

type Operate = (...operands: unknown[]) => ReturnType<Operators[string]>

function meteredOperators(): Operators {
  const metered = (name: string, operate: Operate): Operate => {
    return (...operands) => {
      const budget = budgetOf(operands.at(-1) as Context)
      const values = operands.slice(0, -1).map((operand): unknown => toValue(operand))
      // Strings are compared at memory speed, but lists and objects element by element, and a list may contain another
      // one many times.
      budget.call(values.filter((value) => typeof value === 'object'))
      if (name === 'contains') countSearch(budget, values[0], values[1])
      return operate(...operands)
    }
  }
  return Object.fromEntries(
    Object.entries(defaultOperators).map(([name, operate]) => [name, metered(name, operate as Operate)]),
  )
}

/** Returns the numbers of a range. Their number is counted before they are created. */
export function* rangeOf(
  first: Parameters<typeof evalTokenValue>[0],
  last: Parameters<typeof evalTokenValue>[0],
  context: Context,
): Generator<unknown, number[], unknown> {
  const low = Number(yield evalTokenValue(first, context))
  const high = Number(yield evalTokenValue(last, context))
  if (Math.abs(low) > rangeBoundMax || Math.abs(high) > rangeBoundMax)
    throw new Error(`a range exceeds ${rangeBoundMax}`)
  budgetOf(context).use((high - low + 1) * elementUnits)
  const numbers: number[] = []
  for (let number = low; number < high + 1; number++) numbers.push(number)
  return numbers
}
