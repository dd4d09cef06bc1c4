/** An address as mail programs write it: `"Max Muster" <max@example.com>`. A cell without brackets is the address itself. */
export function readMailbox(cell: string): { email: string; name: string } {
  const start = cell.endsWith('>') ? cell.lastIndexOf('<') : -1
  if (start < 0) return { email: cell, name: '' }
  const name = cell
    .slice(0, start)
    .trim()
    .replace(/^(["'])(.*)\1$/s, '$2')
    .replaceAll('\\"', '"')
    .trim()
  // Programs that know no name repeat the address.
  return { email: cell.slice(start + 1, -1).trim(), name: name.includes('@') ? '' : name }
}

/** `Max Muster` and `Muster, Max`. */
export function splitName(name: string): { firstName: string; lastName: string } {
  const [before, after] = splitOnce(name, ',')
  if (after !== '') return { firstName: after, lastName: before }
  const [firstName, lastName] = splitOnce(name, ' ')
  return { firstName, lastName }
}

function splitOnce(text: string, separator: string): [string, string] {
  const at = text.indexOf(separator)
  return at < 0 ? [text, ''] : [text.slice(0, at).trim(), text.slice(at + 1).trim()]
}

/** A number with a decimal comma, and points between thousands. */
const commaNumber = /^[+-]?(?:\d{1,3}(?:\.\d{3})+|\d{1,100})(?:,\d{1,100})?$/
/** With a comma that cannot stand between thousands. */
const surelyDecimal = /\..*,|,(?!\d{3}$)|^[+-]?0,/

/** Whether all filled cells of a column are numbers, and at least one shows that the comma is a decimal one. */
export function hasDecimalCommas(cells: readonly string[]): boolean {
  const filled = cells.map((cell) => cell.trim()).filter((cell) => cell !== '')
  return filled.every((cell) => commaNumber.test(cell)) && filled.some((cell) => surelyDecimal.test(cell))
}

/** `1.234,50` as `1234.50`. A text that is not such a number stays as it is. */
export const withDecimalPoint = (cell: string): string =>
  commaNumber.test(cell) ? cell.replaceAll('.', '').replace(',', '.') : cell
