/** JSON text with line breaks, for reading. Other text is returned unchanged. */
export function indentedJson(json: string): string {
  try {
    return JSON.stringify(JSON.parse(json), null, 2)
  } catch {
    return json
  }
}
