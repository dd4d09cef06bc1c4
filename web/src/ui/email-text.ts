// Addresses are stored with their domain in ASCII (xn--…). People read it in Unicode. Browsers have no function for this.

/** Returns the address with its domain in Unicode. A label that is not valid Punycode stays as it is. */
export function emailText(email: string): string {
  const at = email.lastIndexOf('@')
  const domain = email.slice(at + 1)
  if (!domain.includes('xn--')) return email
  const labels = domain.split('.').map((label) => (label.startsWith('xn--') ? (decodeLabel(label) ?? label) : label))
  return email.slice(0, at + 1) + labels.join('.')
}

/** Letters, marks and digits, not all of them ASCII: anything else could disguise another address. */
const readable = /^(?=.*[^ -~])[\p{L}\p{M}\p{N}-]+$/u

function decodeLabel(label: string): string | undefined {
  const decoded = decode(label.slice('xn--'.length))
  return decoded !== undefined && readable.test(decoded) ? decoded : undefined
}

// RFC 3492, section 6.2.
const base = 36
const tMin = 1
const tMax = 26
const initialBias = 72
const initialCode = 128

function decode(input: string): string | undefined {
  const basicEnd = Math.max(0, input.lastIndexOf('-'))
  const output = [...input.slice(0, basicEnd)].map((character) => character.codePointAt(0)!)
  let code = initialCode
  let bias = initialBias
  let index = 0
  for (let at = basicEnd > 0 ? basicEnd + 1 : 0; at < input.length; ) {
    const previous = index
    for (let weight = 1, k = base; ; k += base) {
      const digit = Number.parseInt(input[at++] ?? '', base)
      if (Number.isNaN(digit)) return undefined
      // Punycode counts a–z as 0–25 and 0–9 as 26–35, parseInt the other way round.
      const value = digit < 10 ? digit + 26 : digit - 10
      index += value * weight
      const threshold = Math.min(Math.max(k - bias, tMin), tMax)
      if (value < threshold) break
      weight *= base - threshold
    }
    const length = output.length + 1
    bias = adapt(index - previous, length, previous === 0)
    code += Math.floor(index / length)
    if (code > 0x10ffff) return undefined
    index %= length
    output.splice(index++, 0, code)
  }
  return String.fromCodePoint(...output)
}

function adapt(delta: number, length: number, isFirst: boolean): number {
  let value = Math.floor(delta / (isFirst ? 700 : 2))
  value += Math.floor(value / length)
  let k = 0
  for (; value > ((base - tMin) * tMax) / 2; k += base) value = Math.floor(value / (base - tMin))
  return k + Math.floor(((base - tMin + 1) * value) / (value + 38))
}
