export type Json = Record<string, unknown>

export const objectOf = (value: unknown): Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : {}
export const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])
export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')
export const codeOf = (value: unknown): string => (typeof value === 'number' ? String(value) : textOf(value))
