const marks = /[\u0300-\u036f]/g
const others = /[łøđðħŧıßæœ]/g
const plain: Record<string, string> = {
  ł: 'l',
  ø: 'o',
  đ: 'd',
  ð: 'd',
  ħ: 'h',
  ŧ: 't',
  ı: 'i',
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
}

/** Returns a text without accents, in lower case. The database function `search_key` keeps the case. */
export const searchKey = (text: string): string =>
  text
    .normalize('NFD')
    .replace(marks, '')
    .toLowerCase()
    .replace(others, (letter) => plain[letter]!)
