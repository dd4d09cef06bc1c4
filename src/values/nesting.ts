/**
 * Returns whether objects and arrays are nested more than `levels` deep. Has to be checked before JSON.stringify, which
 * recurses as deeply as its input is nested.
 */
export function isDeeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  return levels === 0 || Object.values(value).some((inner) => isDeeperThan(inner, levels - 1))
}
