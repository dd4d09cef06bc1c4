/**
 * Whether a text has more characters than it may, counted as JSON Schema does: an emoji is one, though the length of a
 * string counts most of them as two.
 */
export const isLongerThan = (text: string, charactersMax: number): boolean =>
  text.length > charactersMax && (text.length > 2 * charactersMax || [...text].length > charactersMax)

// PostgreSQL's text holds no NUL, and half a surrogate pair is no character.
const unstorable = /[\0\p{Cs}]/u
/** The same in the output of JSON.stringify: an escape that is not itself escaped. */
const unstorableInJson = /(?<!\\)(?:\\\\)*\\u(?:0000|d[89a-f])/

export const unstorableProblem = 'contains a character that is not text'
export const isStorable = (text: string): boolean => !unstorable.test(text)
/** Of text that JSON.stringify has written. */
export const isStorableJson = (text: string): boolean => !(text.includes('\\u') && unstorableInJson.test(text))
