export type TemplatePart = 'subject' | 'preheader' | 'html' | 'text'
/** Where a problem is in the source of its part, from 1. */
type Position = { line: number; column: number }
export type Problem = Position & { part: TemplatePart; message: string }

export const problemsMax = 10
const messageLengthMax = 200

/** Finds line and column of positions in a text. One scan of the text, then a binary search for each position. */
export class Lines {
  readonly #source: string
  /** Undefined until the first lookup: most texts have no problems. */
  #starts: number[] | undefined

  constructor(source: string) {
    this.#source = source
  }

  at(position: number): Position {
    const starts = this.#lineStarts()
    let low = 0
    let high = starts.length - 1
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if (starts[middle]! <= position) low = middle
      else high = middle - 1
    }
    return { line: low + 1, column: position - starts[low]! + 1 }
  }

  /** The text of a line, counted from 1; empty if there is no such line. */
  text(line: number): string {
    const starts = this.#lineStarts()
    const start = starts[line - 1]
    return start === undefined ? '' : this.#source.slice(start, (starts[line] ?? this.#source.length + 1) - 1)
  }

  #lineStarts(): number[] {
    if (this.#starts) return this.#starts
    const starts = [0]
    for (let at = this.#source.indexOf('\n'); at !== -1; at = this.#source.indexOf('\n', at + 1)) starts.push(at + 1)
    this.#starts = starts
    return starts
  }
}

const rewordings: [RegExp, string][] = [
  [/^undefined filter: (.*)$/, 'unknown filter "$1"'],
  [/^tag "(.*)" not found$/, 'unknown or unmatched tag "$1"'],
  [/^(?:tag|output|raw) (.*) not closed$/s, '$1 is never closed'],
  [/^.*call stack.*$/, 'it is nested too deeply'],
]

/** Returns the message of the engine as a sentence, without the position that it appends. */
export function messageOf(error: unknown): string {
  let message = error instanceof Error ? error.message : String(error)
  message = message.replace(/, line:\d+, col:\d+$/, '')
  for (const [pattern, words] of rewordings) message = message.replace(pattern, words)
  message = shortened(message)
  return `${message.charAt(0).toUpperCase()}${message.slice(1)}.`
}

/** A problem of a part as a whole. */
export const wholeProblem = (part: TemplatePart, message: string): Problem => ({ part, line: 1, column: 1, message })

export const exceeds = (bytesMax: number) => `It exceeds ${bytesMax / 1000} KB.`

export const shortened = (message: string) =>
  message.length > messageLengthMax ? `${message.slice(0, messageLengthMax)}…` : message
