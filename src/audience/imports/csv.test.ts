import fc from 'fast-check'
import { expect, test } from 'vitest'
import { CsvFault, type CsvPosition, type CsvRow, cellsMax, inspect, readSlice, sliceBytes } from './csv.ts'

/** Reads as an import does: slice by slice, each from where the one before ended. */
function read(
  text: string | Buffer,
  { size = sliceBytes, from = undefined as CsvPosition | undefined, rowsMax = 100 } = {},
): CsvRow[] {
  const bytes = Buffer.from(text)
  const { offset, delimiter } = inspect(bytes)
  let position = from ?? { offset, line: 0 }
  const rows: CsvRow[] = []
  while (position.offset < bytes.length) {
    const slice = bytes.subarray(position.offset, position.offset + size)
    const isLast = position.offset + size >= bytes.length
    const read = readSlice(slice, delimiter, position, { isLast, rowsMax })
    rows.push(...read.rows)
    position = read.position
    if (read.fault) throw Object.assign(new CsvFault(read.fault), { rows })
    if (isLast && read.rows.length < rowsMax) break
  }
  return rows
}

const cellsOf = (rows: CsvRow[]) => rows.map(({ cells }) => cells)

test('the delimiter is detected from the first line, ignoring quoted text', () => {
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

test('byte order marks, all line endings, quotes and blank rows are handled', async () => {
  const rows = read(
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

test('malformed quotes do not affect other rows', async () => {
  const rows = read('email,name\na@b.c,"Ada" Lovelace\nb@b.c,5" screen\nc@b.c,Grace\n')
  expect(rows).toHaveLength(4)
  expect(rows[3]!.cells).toEqual(['c@b.c', 'Grace'])
})

test('an unclosed quote is a fault with its line, and earlier rows are returned', () => {
  const text = 'email,name\na@b.c,"two\nlines"\nb@b.c,"open\nc@b.c,x\n'
  expect(() => read(text)).toThrow(expect.objectContaining({ message: expect.stringContaining('line 4') }))
  expect(() => read(text)).toThrow(expect.objectContaining({ rows: [expect.anything(), expect.anything()] }))
  expect(() => read(`email\n${'x'.repeat(200_000)}\n`)).toThrow('line 2')
})

test.each([
  ['commas', ','],
  ['quotes', '"'],
  ['letters', 'x'],
  ['spaces', ' '],
  ['quotes and commas', '"",'],
  ['commas and spaces', ', '],
])('a row of endless %s is a fault', (_title, unit) => {
  const endless = unit.repeat(2 * 1024 * 1024)
  expect(() => read(`email\n${endless}`)).toThrow('line 2')
  expect(() => read(endless)).toThrow('line 1')
})

test('rows after many blank lines are found with their line', () => {
  for (const blank of ['\n', '\r', '\r\n', ',\n', ' \r\n', '"",""\n'])
    expect(read(`email,x${'\n'}${blank.repeat(20_001)}a@b.c,1`).at(-1)).toMatchObject({
      line: 20_003,
      cells: ['a@b.c', '1'],
    })
})

test('a row with too many cells is truncated', () => {
  expect(read(`email\na@b.c${','.repeat(100_000)}\nb@b.c\n`).map(({ cells }) => cells.length)).toEqual([
    1,
    cellsMax + 1,
    1,
  ])
})

test('a row of more than 128 KiB is a fault, even if most of it is delimiters and it fits into a slice', () => {
  const row = (bytes: number) => `a@example.com${','.repeat(bytes - 13)}\n`
  expect(read(`email\n${row(127 * 1024)}`)).toHaveLength(2)
  expect(() => read(`email\n${row(140 * 1024)}b@example.com\n`)).toThrow('line 2')
})

test('spreadsheets, UTF-16 and other binary files are rejected with advice', () => {
  for (const bytes of ['PK\x03\x04rest', '\xff\xfea\0', '\xfe\xff\0a', 'a,b\n\0\0'])
    expect(() => inspect(Buffer.from(bytes, 'latin1'))).toThrow(/Save it as CSV \(UTF-8\)/)
})

test('reading can continue after any row', async () => {
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
      async (table, ending, rowsMax) => {
        const text = `a,b${ending}${table.map((row) => `x,${row.map(quote).join(',')}${ending}`).join('')}`
        const rows = read(text, { rowsMax })
        expect(cellsOf(rows).slice(1)).toEqual(table.map((row) => ['x', ...row]))
        for (const [index, row] of rows.entries()) {
          const rest = read(text, { rowsMax, from: { offset: row.end, line: row.lastLine } })
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
