/** One page of a list. `next_cursor` is null on the last page. */
export type Page<Item> = { data: Item[]; next_cursor: string | null }

/**
 * A list that comes in pages. Await it for the first page, or iterate over it for every entry of every page:
 * `for await (const contact of waxwing.listContacts()) …`. Pages are requested as they are needed.
 */
export class PagedList<Item> implements PromiseLike<Page<Item>>, AsyncIterable<Item> {
  readonly #fetchPage: (cursor: string | undefined) => Promise<Page<Item>>

  constructor(fetchPage: (cursor: string | undefined) => Promise<Page<Item>>) {
    this.#fetchPage = fetchPage
  }

  // biome-ignore lint/suspicious/noThenProperty: awaiting the list returns its first page
  then<Value = Page<Item>, Failure = never>(
    onPage?: ((page: Page<Item>) => Value | PromiseLike<Value>) | null,
    onError?: ((error: unknown) => Failure | PromiseLike<Failure>) | null,
  ): Promise<Value | Failure> {
    return this.#fetchPage(undefined).then(onPage, onError)
  }

  /** Returns the pages one after the other. */
  async *pages(): AsyncGenerator<Page<Item>, void> {
    let cursor: string | undefined
    do {
      const page = await this.#fetchPage(cursor)
      yield page
      cursor = page.next_cursor ?? undefined
    } while (cursor !== undefined)
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void> {
    for await (const page of this.pages()) yield* page.data
  }
}
