import { performance } from 'node:perf_hooks'
import { Counter, Histogram, type Registry } from 'prom-client'
import type { Log } from './log.ts'
import { threadCpuMs } from './thread-cpu.ts'

/** From this delay on a block is counted and logged. */
const blockMsMin = 100
const tickMs = 50
/** After this many ticks without any work there are none until the next: an idle process should sleep. */
const idleTicksMax = 2

/** A period in which the event loop of this thread was blocked, mainly by the named section. */
export type LoopBlock = {
  /** The section that ran longest in the block: a route, a job, a batch or a loop. */
  section: string
  sectionMs: number
  /** How late the event loop was. The block may have begun up to one tick earlier. */
  ms: number
  /** CPU time of the thread during the block. Far below `ms`: the machine was busy elsewhere, or suspended. */
  cpuMs: number
}

// A thread has one event loop, so this is the state of the thread, not of a service.
let section = 'none'
let enteredAt = Date.now()
let longestSection = section
let longestMs = 0
let idleTicks = 0
let timer: NodeJS.Timeout | undefined

/**
 * Names the work that starts now. The name holds until the next one is entered; work that continues after an `await` on
 * the database enters its section again. This runs several times per request, so it only reads the cheapest clock: a
 * step of that clock can name the wrong section, but what counts as a block is decided by the monotonic one.
 */
export function enterSection(name: string): void {
  idleTicks = 0
  if (!timer && reporters.size > 0) startTicks()
  const now = Date.now()
  const ms = now - enteredAt
  if (ms > longestMs) {
    longestMs = ms
    longestSection = section
  }
  section = name
  enteredAt = now
}

export const currentSection = (): string => section

type Reporter = (block: LoopBlock) => void
const reporters = new Set<Reporter>()

/** Calls `report` for each block of the event loop until the returned function is called. */
function watchEventLoop(report: Reporter): () => void {
  reporters.add(report)
  return () => {
    reporters.delete(report)
    if (reporters.size === 0) stopTicks()
  }
}

function startTicks(): void {
  // Time before the first tick is not part of any section.
  section = 'none'
  enteredAt = Date.now()
  longestSection = section
  longestMs = 0
  let tickedAt = performance.now()
  let cpuMs = threadCpuMs()
  const tick = () => {
    const ticks = idleTicks + 1
    // Ends the section before; also keeps idle time from being counted as part of a section by more than one tick.
    enterSection('none')
    idleTicks = ticks
    const [now, cpuMsNow] = [performance.now(), threadCpuMs()]
    const ms = now - tickedAt - tickMs
    if (ms >= blockMsMin) {
      const block = {
        section: longestSection,
        sectionMs: longestMs,
        ms: Math.round(ms),
        cpuMs: Math.round(cpuMsNow - cpuMs),
      }
      for (const report of reporters) report(block)
    }
    longestMs = 0
    longestSection = 'none'
    tickedAt = now
    cpuMs = cpuMsNow
    if (idleTicks > idleTicksMax) stopTicks()
  }
  timer = setInterval(tick, tickMs).unref()
}

function stopTicks(): void {
  clearInterval(timer)
  timer = undefined
}

/** Counts and logs every block of the event loop until the returned function is called. */
export function monitorEventLoop({ log, registry }: { log: Log; registry: Registry }): () => void {
  const blocks = new Counter({
    name: 'waxwing_event_loop_blocks_total',
    help: `Blocks of the event loop of ${blockMsMin} ms or more, by the route, job, batch or loop that ran.`,
    labelNames: ['section'],
    registers: [registry],
  })
  const durations = new Histogram({
    name: 'waxwing_event_loop_block_seconds',
    help: `Duration of blocks of the event loop of ${blockMsMin} ms or more.`,
    buckets: [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    registers: [registry],
  })
  return watchEventLoop((block) => {
    blocks.inc({ section: block.section })
    durations.observe(block.ms / 1000)
    log.warn(block, 'The event loop was blocked')
  })
}
