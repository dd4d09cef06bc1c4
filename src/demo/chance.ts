import { createHash } from 'node:crypto'

// All choices of the sample data follow from a hash, so that two runs on the same day yield the same figures.

/** Returns a number from 0 to 1 that is always the same for the same id and purpose. */
export function chanceOf(id: string, what: string): number {
  return Number.parseInt(createHash('sha256').update(`${id} ${what}`).digest('hex').slice(0, 8), 16) / 0x1_0000_0000
}

/** Returns an id that sorts by its time, always the same for the same purpose. */
export function idAt(ms: number, what: string): string {
  const time = Math.floor(ms).toString(16).padStart(12, '0')
  const hash = createHash('sha256').update(what).digest('hex')
  return `${time.slice(0, 8)}-${time.slice(8)}-7${hash.slice(0, 3)}-8${hash.slice(3, 6)}-${hash.slice(6, 18)}`
}
