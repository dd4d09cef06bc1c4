import { options } from './options.ts'
import { cpuMicrosOfTree } from './process-tree.ts'
import { currentSide } from './sides.ts'

/** One round: the number of operations and the time they took. */
export type Round = {
  operations: number
  seconds: number
  /** CPU time in this round, or null if it is unknown. */
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
  /** CPU time per operation in each round; empty if it is unknown. */
  cpuMicrosOfRounds: number[]
  /** CPU time per operation as a multiple of what the reference takes for one, with its peer and the load. */
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
    const round = await takeTurn(async () => ({ ours: await ours(), reference: await withCpuTime(reference) }))
    if (pair > 0) measured.push(round)
    if (options.verbose)
      console.error(`  ${Math.round(rate(round.ours))}/s against ${Math.round(rate(round.reference))}/s`)
  }
  const rounds = measured.map((pair) => pair.ours)
  const cpuMicrosOfRounds = cpuPerOperation(rounds)
  const cpuMicrosPerOperation = medianOf(cpuMicrosOfRounds)
  const bareMicros = medianOf(cpuPerOperation(measured.map((pair) => pair.reference)))
  return {
    ours: median(rounds.map(rate)),
    reference: median(measured.map((pair) => rate(pair.reference))),
    ratio: median(measured.map((pair) => rate(pair.ours) / rate(pair.reference))),
    cpuMicrosPerOperation,
    cpuMicrosOfRounds,
    bareUnits: cpuMicrosPerOperation === null || bareMicros === null ? null : cpuMicrosPerOperation / bareMicros,
    ...percentiles(rounds.flatMap((round) => round.latenciesMs ?? [])),
  }
}

/** Meanwhile the services are idle, so it is the CPU time of the reference, its peer and the load. */
async function withCpuTime(reference: () => Promise<Round>): Promise<Round> {
  const before = cpuMicrosOfTree(process.pid)
  const round = await reference()
  const after = cpuMicrosOfTree(process.pid)
  return { ...round, cpuMicros: before === null || after === null ? null : after - before }
}

const cpuPerOperation = (rounds: readonly Round[]): number[] =>
  rounds.flatMap(({ cpuMicros, operations }) => (cpuMicros ? [cpuMicros / operations] : []))

const medianOf = (values: number[]): number | null => (values.length === 0 ? null : median(values))

const rate = ({ operations, seconds }: Round) => operations / seconds

export function percentiles(values: number[]): { p50Ms: number | null; p99Ms: number | null } {
  if (values.length === 0) return { p50Ms: null, p99Ms: null }
  const sorted = Float64Array.from(values).sort()
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]!
  return { p50Ms: at(0.5), p99Ms: at(0.99) }
}

export function median(values: number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!
}
