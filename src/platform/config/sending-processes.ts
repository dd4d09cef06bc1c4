import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import type { Config } from './config.ts'

/** More do not help by default: PostgreSQL, which records what they send, needs cores as well, and a broadcast has four parts. */
const processesMaxByDefault = 4
/** Of the connections to a mail server, the service keeps this share for other email while sending processes run. */
export const idleShare = 0.1
/** The same while other email waits for a connection. */
export const busyShare = 0.5

/** Which of the connections to a mail server a process may open: the service, or the sending process with this index. */
export type ConnectionPart = { processes: number; index?: number; ownShare: number }

/** While no sending process runs. */
export const allConnections: ConnectionPart = { processes: 0, ownShare: 1 }

/** Together the processes open no more than there are, or one each if there are fewer: each must be able to send. */
export function connectionsOf(connections: number, { processes, index, ownShare }: ConnectionPart): number {
  const reserved = Math.max(1, Math.floor(connections * ownShare))
  return index === undefined ? reserved : Math.max(1, Math.floor((connections - reserved + index) / processes))
}

type SendingSettings = Pick<Config, 'SENDING_PROCESSES' | 'SMTP_URL' | 'SMTP_CONNECTIONS'>

/** How many child processes of `start` and `work` send broadcasts. 0: the process sends them itself. */
export function sendingProcessesOf(config: SendingSettings, cores = coresOfMachine()): number {
  const wanted = config.SENDING_PROCESSES ?? Math.min(cores - 1, processesMaxByDefault)
  // Without a mail server, emails are only stored. One connection is left for other email.
  return config.SMTP_URL === undefined ? 0 : Math.min(wanted, config.SMTP_CONNECTIONS - 1)
}

/** For the start and `waxwing doctor`. */
export function describeSending(config: SendingSettings): string {
  const processes = sendingProcessesOf(config)
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
