import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { packageRoot } from '../src/platform/config/package-root.ts'
import { accept } from './accept.ts'
import { broadcast } from './broadcast.ts'
import { deliver } from './deliver.ts'
import { buildBase } from './support/base-program.ts'
import { cleanUp } from './support/cleanup.ts'
import { options } from './support/options.ts'
import { median } from './support/rounds.ts'
import { ourProgram } from './support/service.ts'
import { withEach } from './support/sides.ts'
import { track } from './track.ts'

const benches = { accept, broadcast, track, deliver }
/** More CPU than the base by this factor is a change that somebody must explain. Medians differ by up to 5 %. */
const slowerMax = 1.1
/** The bare loop adds noise of its own to the units of the ratchet. */
const overRatchetMax = 1.2
/** What seems slower is measured again, with new starts of both programs: rounds differ by a third, and starts by a tenth. */
const triesMax = 3
const ratchetFile = 'bench/ratchet.json'

/**
 * Compares the CPU per operation of the hot paths with the last commit of the main branch, in turn. Then with a file:
 * the most units that each may cost, where a unit is the CPU time of the bare loop for one operation.
 */
export async function guard(baseCommit?: string): Promise<boolean> {
  options.pairs = 7
  options.roundMs = 1_000
  const base = buildBase(baseCommit)
  const most = JSON.parse(readFileSync(join(packageRoot, ratchetFile), 'utf8')) as Record<string, number>
  console.log(`CPU per operation against ${base.commit.slice(0, 8)}:`)
  let holds = true
  for (const [name, bench] of Object.entries(benches)) {
    const pairs: Pair[] = []
    const units: number[] = []
    let isSlower = true
    for (let tries = 0; isSlower && tries < triesMax; tries++) {
      const [before, now] = await withEach([base.program, ourProgram], bench).finally(cleanUp)
      pairs.push(
        ...now!.cpuMicrosOfRounds!.map((micros, at) => ({ before: before!.cpuMicrosOfRounds![at]!, now: micros })),
      )
      units.push(now!.bareUnits!)
      isSlower = factorOf(pairs) > slowerMax || median(units) > most[name]! * overRatchetMax
    }
    const micros = [pairs.map((pair) => pair.before), pairs.map((pair) => pair.now)].map((all) =>
      median(all).toFixed(0),
    )
    const ratchet = `${median(units).toFixed(1)} units, ${most[name]!.toFixed(1)} in ${ratchetFile}`
    const change = `${micros.join(' → ')} µs (${factorOf(pairs).toFixed(2)}, ${pairs.length} pairs)`
    console.log(`${isSlower ? 'SLOWER' : 'ok    '} ${name.padEnd(10)} ${change}, ${ratchet}`)
    holds &&= !isSlower
  }
  return holds
}

/** CPU time per operation in two rounds that follow each other: the machine is as fast for both. */
type Pair = { before: number; now: number }

const factorOf = (pairs: readonly Pair[]): number => median(pairs.map(({ before, now }) => now / before))
