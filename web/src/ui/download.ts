/** Saves a text as a file of the browser's downloads. */
export function download(name: string, type: string, text: string): void {
  saveFile(name, new Blob([text], { type }))
}

/** Saves a file of the browser's downloads. */
export function saveFile(name: string, content: Blob): void {
  const url = URL.createObjectURL(content)
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  URL.revokeObjectURL(url)
}
