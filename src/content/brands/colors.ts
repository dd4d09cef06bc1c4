// The web app uses this file as well, to show a brand before it is saved.

export const defaultColor = '#1f5fa3'
export const defaultBackground = '#f2f4f7'

const lightText = '#ffffff'
const darkText = '#101418'

/** Black or white, whichever has more contrast (WCAG 2). */
export function textOn(color: string): string {
  const onLight = (luminanceOf(color) + 0.05) / (luminanceOf(darkText) + 0.05)
  const onDark = (luminanceOf(lightText) + 0.05) / (luminanceOf(color) + 0.05)
  return onDark >= onLight ? lightText : darkText
}

function luminanceOf(color: string): number {
  const [red, green, blue] = [1, 3, 5].map((at) => {
    const share = Number.parseInt(color.slice(at, at + 2), 16) / 255
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
  }) as [number, number, number]
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}
