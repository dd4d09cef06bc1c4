import { options } from './options.ts'

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
  p50Ms: number | null
  p99Ms: number | null
}

const pairsUsual = 5

/** Alternates rounds of the service and the reference, after one warm-up pair. */
export async function interleave(
  ours: () => Promise<Round>,
  reference: () => Promise<Round>,
  pairs = pairsUsual,
): Promise<Comparison> {
  const measured: { ours: Round; reference: Round }[] = []
  for (let pair = 0; pair <= pairs; pair++) {
    const round = { ours: await ours(), reference: await reference() }
    if (pair > 0) measured.push(round)
    if (options.verbose)
      console.error(`  ${Math.round(rate(round.ours))}/s against ${Math.round(rate(round.reference))}/s`)
  }
  const rounds = measured.map((pair) => pair.ours)
  return {
    ours: median(rounds.map(rate)),
    reference: median(measured.map((pair) => rate(pair.reference))),
    ratio: median(measured.map((pair) => rate(pair.ours) / rate(pair.reference))),
    cpuMicrosPerOperation: cpuPerOperation(rounds),
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
