const [quote, lineFeed, carriageReturn] = [0x22, 0x0a, 0x0d]

/** Follows the quotes of a file by the rules of the service, as its text comes in pieces. */
export class QuoteWatch {
  readonly #delimiter: number
  /** `closing`: behind a quote inside quotes, which ends them unless another one follows. */
  #place: 'before a cell' | 'in a cell' | 'in quotes' | 'closing' = 'before a cell'
  #line = 1
  #last = 0
  #openedInLine = 0

  constructor(delimiter: string) {
    this.#delimiter = delimiter.charCodeAt(0)
  }

  /** By the codes of the characters: a file has millions, and codes make no garbage. */
  read(text: string): void {
    for (let at = 0; at < text.length; at++) {
      const code = text.charCodeAt(at)
      this.#step(code)
      // A line ends with either of them or with both.
      if (code === carriageReturn || (code === lineFeed && this.#last !== carriageReturn)) this.#line++
      this.#last = code
    }
  }

  /** At the end of the file: where the quote stands that has no other. */
  get openLine(): number | undefined {
    return this.#place === 'in quotes' ? this.#openedInLine : undefined
  }

  #step(code: number): void {
    if (this.#place === 'in quotes') {
      if (code === quote) this.#place = 'closing'
    } else if (this.#place === 'closing' && code === quote) {
      this.#place = 'in quotes'
    } else if (code === this.#delimiter || code === lineFeed || code === carriageReturn) {
      this.#place = 'before a cell'
    } else if (this.#place === 'before a cell' && code === quote) {
      this.#place = 'in quotes'
      this.#openedInLine = this.#line
    } else if (this.#place !== 'before a cell' || !/\s/.test(String.fromCharCode(code))) {
      this.#place = 'in a cell'
    }
  }
}
