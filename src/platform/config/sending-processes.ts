import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import type { Config } from './config.ts'

/** More do not help by default: PostgreSQL, which records what they send, needs cores as well, and a broadcast has four parts. */
const processesMaxByDefault = 4
/** Of the SMTP connections, this share is kept for other email while sending processes run. */
const ownShare = 0.25

export type SendingShares = {
  /** Child processes that send broadcasts. 0: the process sends them itself. */
  processes: number
  /** SMTP connections that remain for other email while they run. */
  ownConnections: number
  /** SMTP connections of each of them. */
  connections: readonly number[]
}

type SendingSettings = Pick<Config, 'SENDING_PROCESSES' | 'SMTP_URL' | 'SMTP_CONNECTIONS'>

/** Returns how `start` and `work` divide the sending of broadcasts, and the connections to the mail server. */
export function sendingSharesOf(config: SendingSettings, cores = coresOfMachine()): SendingShares {
  const total = config.SMTP_CONNECTIONS
  const ownConnections = Math.ceil(total * ownShare)
  const wanted = config.SENDING_PROCESSES ?? Math.min(cores - 1, processesMaxByDefault)
  // Without a mail server, emails are only stored.
  const processes = config.SMTP_URL === undefined ? 0 : Math.min(wanted, total - ownConnections)
  const connections = Array.from({ length: processes }, (_, index) =>
    Math.floor((total - ownConnections + index) / processes),
  )
  return { processes, ownConnections, connections }
}

/** For the start and `waxwing doctor`. */
export function describeSending(config: SendingSettings): string {
  const { processes } = sendingSharesOf(config)
  if (processes === 0) return 'broadcasts are sent by this process (SENDING_PROCESSES)'
  const noun = processes === 1 ? 'process sends' : 'processes send'
  return `${processes} child ${noun} broadcasts (SENDING_PROCESSES)`
}

/** The cores that this process may use, also in a container with a limit. */
function coresOfMachine(): number {
  const cores = availableParallelism()
  try {
    const [quota, period] = readFileSync('/sys/fs/cgroup/cpu.max', 'utf8').split(' ').map(Number)
    return quota! > 0 && period! > 0 ? Math.max(1, Math.min(cores, Math.ceil(quota! / period!))) : cores
  } catch {
    return cores
  }
}
