import { setTimeout as sleep } from 'node:timers/promises'
import type { FaultWorld, PeerMode } from './fault-world.ts'
import type { Seeded } from './seeded.ts'
import { askedMinutes } from './seeded.ts'
import type { Service } from './service.ts'
import { until } from './until.ts'

export type Fault = { name: string; happen(world: FaultWorld, random: Seeded): Promise<void> }

/** A lease lasts ten seconds: a worker that is suspended for longer has lost its lanes when it resumes. */
const suspendedMsMax = askedMinutes ? 14_000 : 3_000
const outageMsMax = askedMinutes ? 8_000 : 2_500
const clockStepMsMax = 3_600_000

const peerModes: PeerMode[] = ['hanging', 'garbage', 'refusing']

async function killAndStart(service: Service): Promise<void> {
  await service.kill()
  await service.start()
}

async function suspended(pids: number[], ms: number): Promise<void> {
  const signal = (name: 'SIGSTOP' | 'SIGCONT') => {
    for (const pid of pids) {
      try {
        process.kill(pid, name)
      } catch {
        // It has already exited, like backends of the database.
      }
    }
  }
  signal('SIGSTOP')
  await sleep(ms)
  signal('SIGCONT')
}

export const faults: Fault[] = [
  { name: 'serve killed', happen: ({ serve }) => killAndStart(serve) },
  {
    name: 'worker killed',
    happen: async ({ workers }, random) => {
      if (random.chance(0.3)) await Promise.all(workers.map(killAndStart))
      else await killAndStart(random.pick(workers))
    },
  },
  {
    name: 'database killed, spool full',
    happen: async ({ database, opened }, random) => {
      await database.kill()
      // Opens are acknowledged from the spool until it is full; the others are rejected and retried.
      const before = opened.size
      await until('opens to be answered without the database', () => opened.size > before + 5, 15_000).catch(() => {})
      await sleep(random.int(0, outageMsMax))
      await database.start()
    },
  },
  {
    name: 'database restarted',
    happen: async ({ database }) => {
      await database.stop()
      await database.start()
    },
  },
  {
    name: 'database suspended',
    happen: ({ database }, random) => suspended(database.pids(), random.int(500, suspendedMsMax)),
  },
  {
    name: 'worker suspended',
    happen: ({ workers }, random) => suspended([random.pick(workers).pid()], random.int(500, suspendedMsMax)),
  },
  {
    name: 'relay failing',
    happen: async ({ modes, relay }, random) => {
      modes.relay = random.pick(peerModes)
      await sleep(random.int(500, outageMsMax))
      modes.relay = 'healthy'
      // A relay that never replies to the end of an email is awaited for five minutes; the short run does not have them.
      if (!askedMinutes || random.chance(0.5)) relay.resetHung()
    },
  },
  {
    name: 'endpoint failing',
    happen: async ({ modes }, random) => {
      modes.receiver = random.pick(peerModes)
      await sleep(random.int(500, outageMsMax))
      modes.receiver = 'healthy'
    },
  },
  {
    name: 'clock stepped',
    happen: async ({ setClock }, random) => {
      setClock(random.int(-clockStepMsMax, clockStepMsMax))
      await sleep(1_000)
    },
  },
]
