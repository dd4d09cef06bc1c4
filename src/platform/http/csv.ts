import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import { Type } from 'typebox'

/** The response of a route that exports a CSV file. */
export const csvFile = { description: 'The file.', content: { 'text/csv': { schema: Type.String() } } }

export type CsvColumns<Row> = readonly (readonly [name: string, cell: (row: Row) => string])[]

/** Reads pages of rows until one is not full. `read` gets the last row of the page before. */
export async function* pagesOf<Row>(
  size: number,
  read: (last: Row | undefined) => Promise<readonly Row[]>,
): AsyncGenerator<readonly Row[]> {
  let last: Row | undefined
  for (;;) {
    const rows = await read(last)
    if (rows.length > 0) yield rows
    if (rows.length < size) return
    last = rows.at(-1)
  }
}

/**
 * Answers with a CSV file. Each page is read when the previous one was consumed, so that a slow client holds no connection to the
 * database. Throws what reading the first page throws.
 */
export async function sendCsv<Row>(
  reply: Pick<FastifyReply, 'type' | 'header' | 'send'>,
  name: string,
  columns: CsvColumns<Row>,
  pages: AsyncIterator<readonly Row[]>,
): Promise<never> {
  let page = await pages.next()
  async function* pieces() {
    yield csvLine(columns.map(([name]) => name))
    for (; !page.done; page = await pages.next())
      yield page.value.map((row) => csvLine(columns.map(([, cell]) => cell(row)))).join('')
  }
  reply.type('text/csv; charset=utf-8')
  reply.header('content-disposition', `attachment; filename="${name}"`)
  return reply.send(Readable.from(pieces())) as never
}

/** Spreadsheets run cells that start with these characters as formulas; numbers are not affected. */
const formula = /^(?![+-]?[0-9.,]+$)[=+\-@\t\r]/

function csvCell(text: string): string {
  const safe = formula.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

const csvLine = (cells: readonly string[]): string => `${cells.map(csvCell).join(',')}\r\n`
