import type { Comparison } from './rounds.ts'
import type { Service } from './service.ts'

/** The target as text, and whether it was reached. */
export type Bar = { wanted: string; holds: boolean }

export type Result = {
  figure: string
  reference: string
  ratio: number | null
  cpuMicrosPerOperation: number | null
  cpuMicrosOfRounds?: number[]
  bareUnits?: number | null
  p50Ms: number | null
  p99Ms: number | null
  /** Memory of the Node process at the end. */
  memoryBytes: number | null
  atLeast: Bar
  aim: Bar
  notes: string[]
}

/** A result for which a higher ratio is better. */
export function byRatio(
  { ours, reference, ratio, ...figures }: Comparison,
  wanted: { unit: string; atLeast: number; aim: number; service: Service; notes?: string[] },
): Result {
  const perSecond = (value: number) => `${Math.round(value).toLocaleString('en')} ${wanted.unit}/s`
  return {
    figure: perSecond(ours),
    reference: perSecond(reference),
    ratio,
    ...figures,
    memoryBytes: wanted.service.residentBytes(),
    atLeast: { wanted: wanted.atLeast.toFixed(2), holds: ratio >= wanted.atLeast },
    aim: { wanted: wanted.aim.toFixed(2), holds: ratio >= wanted.aim },
    notes: wanted.notes ?? [],
  }
}
