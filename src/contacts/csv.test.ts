import fc from 'fast-check'
import { expect, test } from 'vitest'
import { CsvFault, type CsvPlace, type CsvRow, inspect, readCsv } from './csv.ts'

async function* piecesOf(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

async function read(
  text: string | Buffer,
  { size = 7, from = undefined as CsvPlace | undefined } = {},
): Promise<CsvRow[]> {
  const bytes = Buffer.from(text)
  const { offset, delimiter } = inspect(bytes)
  const place = from ?? { offset, line: 0 }
  const rows: CsvRow[] = []
  for await (const portion of readCsv(piecesOf(bytes.subarray(place.offset), size), delimiter, place))
    rows.push(...portion)
  return rows
}

const cellsOf = (rows: CsvRow[]) => rows.map(({ cells }) => cells)

test('comma, semicolon, tab and bar are told apart by the first line, not by what stands in quotes', () => {
  const delimiterOf = (text: string) => inspect(Buffer.from(text)).delimiter
  expect(delimiterOf('email,name\n')).toBe(',')
  expect(delimiterOf('email;name\na,b,c,d\n')).toBe(';')
  expect(delimiterOf('email\tname')).toBe('\t')
  expect(delimiterOf('email|name')).toBe('|')
  expect(delimiterOf('"a,b,c,d";"x\n,,,"";,";z\n,,,,,,')).toBe(';')
  expect(delimiterOf('size in ";email,also;name\n')).toBe(';')
  expect(delimiterOf('\n\r\n  \n,,\nemail;name\n')).toBe(';')
  expect(delimiterOf('email;"name\n,,,,')).toBe(';')
  expect(delimiterOf('email')).toBe(',')
  expect(delimiterOf('')).toBe(',')
})

test('a byte order mark, any line ending, quotes and blank rows are understood', async () => {
  const rows = await read(
    '\ufeffemail;name\r\n"a@b.c";"Says ""hi"";\r\nand leaves"\r\n\r\n;;\r\n  x@y.z ; O\'Neil \n"q" \r last',
  )
  expect(cellsOf(rows)).toEqual([
    ['email', 'name'],
    ['a@b.c', 'Says "hi";\r\nand leaves'],
    ['x@y.z ', "O'Neil "],
    ['"q" '],
    ['last'],
  ])
  expect(rows.map(({ line }) => line)).toEqual([1, 2, 6, 7, 8])
})

test('quotes that are not quite right spoil no other row', async () => {
  const rows = await read('email,name\na@b.c,"Ada" Lovelace\nb@b.c,5" screen\nc@b.c,Grace\n')
  expect(rows).toHaveLength(4)
  expect(rows[3]!.cells).toEqual(['c@b.c', 'Grace'])
})

test('a quote that is never closed is a fault that names its line, after the rows before were given', async () => {
  const rows: CsvRow[] = []
  const text = Buffer.from('email,name\na@b.c,"two\nlines"\nb@b.c,"open\nc@b.c,x\n')
  const reading = (async () => {
    for await (const portion of readCsv(piecesOf(text, 10), ',', { offset: 0, line: 0 })) rows.push(...portion)
  })()
  await expect(reading).rejects.toThrow(CsvFault)
  await expect(reading).rejects.toThrow('line 4')
  expect(rows).toHaveLength(2)
  await expect(read(`email\n${'x'.repeat(200_000)}\n`, { size: 10_000 })).rejects.toThrow('line 2')
})

test('spreadsheets, UTF-16 and other binary files are refused with advice', () => {
  for (const bytes of ['PK\x03\x04rest', '\xff\xfea\0', '\xfe\xff\0a', 'a,b\n\0\0'])
    expect(() => inspect(Buffer.from(bytes, 'latin1'))).toThrow(/Save it as CSV \(UTF-8\)/)
})

test('reading on from behind any row gives the rows that follow, with their lines', async () => {
  const cell = fc.oneof(
    fc.string({ unit: 'grapheme', maxLength: 8 }),
    fc.constantFrom('a\nb', 'a\r\nb\r\n', '"', ',,', ''),
  )
  const quote = (text: string) => `"${text.replaceAll('"', '""')}"`
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(cell, { minLength: 1, maxLength: 3 }), { maxLength: 8 }),
      fc.constantFrom('\n', '\r\n'),
      fc.integer({ min: 1, max: 40 }),
      async (table, ending, size) => {
        const text = `a,b${ending}${table.map((row) => `x,${row.map(quote).join(',')}${ending}`).join('')}`
        const rows = await read(text, { size })
        expect(cellsOf(rows).slice(1)).toEqual(table.map((row) => ['x', ...row]))
        for (const [index, row] of rows.entries()) {
          const rest = await read(text, { size, from: { offset: row.end, line: row.lastLine } })
          expect(rest).toEqual(rows.slice(index + 1))
          const before = Buffer.from(text)
            .subarray(0, rows[index - 1]?.end ?? 0)
            .toString()
          expect(row.line).toBe(before.split(/\r\n|\r|\n/).length)
        }
      },
    ),
    { numRuns: 150 },
  )
})
