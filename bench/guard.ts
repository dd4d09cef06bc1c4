import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { packageRoot } from '../src/platform/config/package-root.ts'
import { accept } from './accept.ts'
import { broadcast } from './broadcast.ts'
import { deliver } from './deliver.ts'
import { buildBase } from './support/base-program.ts'
import { cleanUp } from './support/cleanup.ts'
import { options } from './support/options.ts'
import { ourProgram } from './support/service.ts'
import { withEach } from './support/sides.ts'
import { track } from './track.ts'

const benches = { accept, broadcast, track, deliver }
/** More CPU than the base by this factor is a change that somebody must explain. Medians differ by up to 5 %. */
const slowerMax = 1.1
/** The machine and the bare loop add noise of their own to the units of the ratchet. */
const overRatchetMax = 1.2
const ratchetFile = 'bench/ratchet.json'

/**
 * Compares the CPU per operation of the hot paths with the last commit of the main branch, in turn. Then with a file:
 * the most units that each may cost, where a unit is the time of the bare loop for one operation.
 */
export async function guard(baseCommit?: string): Promise<boolean> {
  options.pairs = 3
  options.roundMs = 1_200
  const base = buildBase(baseCommit)
  const most = JSON.parse(readFileSync(join(packageRoot, ratchetFile), 'utf8')) as Record<string, number>
  console.log(`CPU per operation against ${base.commit.slice(0, 8)}:`)
  let holds = true
  for (const [name, bench] of Object.entries(benches)) {
    const [before, now] = await withEach([base.program, ourProgram], bench).finally(cleanUp)
    const factor = now!.cpuMicrosPerOperation! / before!.cpuMicrosPerOperation!
    const units = now!.bareUnits!
    const isSlower = factor > slowerMax || units > most[name]! * overRatchetMax
    holds &&= !isSlower
    const micros = `${before!.cpuMicrosPerOperation!.toFixed(0)} → ${now!.cpuMicrosPerOperation!.toFixed(0)} µs`
    const ratchet = `${units.toFixed(1)} units, ${most[name]!.toFixed(1)} in ${ratchetFile}`
    console.log(`${isSlower ? 'SLOWER ' : 'ok     '}${name.padEnd(10)} ${micros} (${factor.toFixed(2)}), ${ratchet}`)
  }
  return holds
}
