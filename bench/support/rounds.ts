import { options } from './options.ts'
import { currentSide } from './sides.ts'

/** One round: the number of operations and the time they took. */
export type Round = {
  operations: number
  seconds: number
  /** CPU time of the service in this round, or null if it is unknown. */
  cpuMicros?: number | null
  latenciesMs?: number[]
}

export type Comparison = {
  /** Medians over the rounds, per second. */
  ours: number
  reference: number
  /** The median of the ratios of the pairs. */
  ratio: number
  cpuMicrosPerOperation: number | null
  /** CPU time per operation as a multiple of the time that the reference takes for one. */
  bareUnits: number | null
  p50Ms: number | null
  p99Ms: number | null
}

/** Alternates rounds of the service and the reference, after one warm-up pair. */
export async function interleave(
  ours: () => Promise<Round>,
  reference: () => Promise<Round>,
  pairs = options.pairs,
): Promise<Comparison> {
  const takeTurn = currentSide()?.takeTurn ?? ((work) => work())
  const measured: { ours: Round; reference: Round }[] = []
  for (let pair = 0; pair <= pairs; pair++) {
    const round = await takeTurn(async () => ({ ours: await ours(), reference: await reference() }))
    if (pair > 0) measured.push(round)
    if (options.verbose)
      console.error(`  ${Math.round(rate(round.ours))}/s against ${Math.round(rate(round.reference))}/s`)
  }
  const rounds = measured.map((pair) => pair.ours)
  const referenceRate = median(measured.map((pair) => rate(pair.reference)))
  const cpuMicrosPerOperation = cpuPerOperation(rounds)
  return {
    ours: median(rounds.map(rate)),
    reference: referenceRate,
    ratio: median(measured.map((pair) => rate(pair.ours) / rate(pair.reference))),
    cpuMicrosPerOperation,
    bareUnits: cpuMicrosPerOperation === null ? null : (cpuMicrosPerOperation * referenceRate) / 1e6,
    ...percentiles(rounds.flatMap((round) => round.latenciesMs ?? [])),
  }
}

const rate = ({ operations, seconds }: Round) => operations / seconds

function cpuPerOperation(rounds: Round[]): number | null {
  const known = rounds.flatMap(({ cpuMicros, operations }) => (cpuMicros ? [cpuMicros / operations] : []))
  return known.length === 0 ? null : median(known)
}

export function percentiles(values: number[]): { p50Ms: number | null; p99Ms: number | null } {
  if (values.length === 0) return { p50Ms: null, p99Ms: null }
  const sorted = Float64Array.from(values).sort()
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]!
  return { p50Ms: at(0.5), p99Ms: at(0.99) }
}

function median(values: number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!
}
