import { createHash } from 'node:crypto'

// All choices of the sample data follow from a hash, so that two runs on the same day yield the same figures.

/** Returns a number from 0 to 1 that is always the same for the same id and purpose. */
export function chanceOf(id: string, purpose: string): number {
  return Number.parseInt(createHash('sha256').update(`${id} ${purpose}`).digest('hex').slice(0, 8), 16) / 0x1_0000_0000
}
