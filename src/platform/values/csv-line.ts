/** Spreadsheets run cells that start with these characters as formulas; numbers are not affected. */
const formula = /^(?![+-]?[0-9.,]+$)[=+\-@\t\r]/

function csvCell(text: string): string {
  const safe = formula.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

/** Returns a line of a CSV file. */
export const csvLine = (cells: readonly string[]): string => `${cells.map(csvCell).join(',')}\r\n`
