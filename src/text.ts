/**
 * Whether a text has more characters than it may, counted as JSON Schema does: an emoji is one, though the length of a
 * string counts most of them as two.
 */
export const isLongerThan = (text: string, charactersMax: number): boolean =>
  text.length > charactersMax && (text.length > 2 * charactersMax || [...text].length > charactersMax)
