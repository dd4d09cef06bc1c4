/** Counts code points, as JSON Schema does: an emoji is one character although its string length is two. */
export const isLongerThan = (text: string, charactersMax: number): boolean =>
  text.length > charactersMax && (text.length > 2 * charactersMax || [...text].length > charactersMax)

// PostgreSQL text cannot contain NUL or lone surrogates.
const unstorable = /[\0\p{Cs}]/u
const everyUnstorable = new RegExp(unstorable, 'gu')
/** The same characters in the output of JSON.stringify: an escape sequence that is not itself escaped. */
const unstorableInJson = /(?<!\\)(?:\\\\)*\\u(?:0000|d[89a-f])/

export const unstorableProblem = 'contains a character that cannot be stored (NUL or a lone surrogate)'
/** Returns the start of a text that others have written, without what cannot be stored. */
export const storableText = (text: string, lengthMax: number): string =>
  text.slice(0, lengthMax).replace(everyUnstorable, '')
export const isStorable = (text: string): boolean => !unstorable.test(text)
/** The same check for the output of JSON.stringify. */
export const isStorableJson = (text: string): boolean => !(text.includes('\\u') && unstorableInJson.test(text))
