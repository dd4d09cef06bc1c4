import { constants, setPriority } from 'node:os'
import { setFlagsFromString } from 'node:v8'
import { Registry } from 'prom-client'
import { createBroadcaster } from './broadcasts/base.ts'
import { createContentBase } from './content/base.ts'
import { createDeliveryBase } from './delivery/base.ts'
import { recordMailServerChange } from './operations/notices/mail-server-notices.ts'
import { recordExpiredBroadcast, recordPausedBroadcast } from './operations/notices/notices.ts'
import { createBase } from './platform/base.ts'
import { tuning } from './platform/config/tuning.ts'
import { openDb } from './platform/db/db.ts'
import { CountReport, listenToParent, tellParent } from './platform/processes/parent.ts'
import type { SendingStart, ToSendingProcess } from './platform/processes/protocol.ts'
import { Hints } from './platform/queue/hints.ts'
import { openLog } from './platform/runtime/log.ts'
import { createAttempts } from './sending/base.ts'

/** Enough for reading recipients, recording results, and looking for a pause at the same time. */
const databaseConnections = 3
/** Ends after this time without a broadcast. */
const idleMsMax = 60_000
const idleCheckMs = 1_000
/** It exits after this time even if emails are still in flight. */
const stopWithinMs = 9_000

type Running = { receive: (message: ToSendingProcess) => void; stop: () => Promise<void> }

/** The entry point of a sending process. */
let running: Promise<Running> | undefined

listenToParent((message) => {
  if (message.kind === 'start') running = run(message)
  else if (message.kind === 'stop') void stop()
  else void running?.then(({ receive }) => receive(message))
})

let isStopping = false
async function stop(): Promise<void> {
  if (isStopping) return
  isStopping = true
  setTimeout(() => process.exit(1), stopWithinMs).unref()
  await (await running)?.stop()
  process.exit(0)
}

async function run({
  config,
  secrets,
  database,
  isDistributed,
  connectionPart,
  ...state
}: SendingStart): Promise<Running> {
  // By default V8 lets the heap more than double before a collection.
  setFlagsFromString('--heap-growing-percent=50')
  lowerPriority()
  const log = await openLog(config.LOG_LEVEL)
  const db = openDb({ ...database, connectionsMax: databaseConnections, applicationName: 'waxwing sending' })
  db.isDistributed = isDistributed
  const metrics = new Registry()
  const hints = new Hints(db, { areForwarded: true })
  const base = createBase({
    config,
    limits: { ...tuning, taskProcesses: 1 },
    secrets,
    db,
    log,
    hints,
    metrics,
    baseUrl: () => state.baseUrl,
  })
  await base.formats.load()
  const delivery = createDeliveryBase(base, {
    connectionPart,
    onMailServerChange: recordMailServerChange,
    onRelayState: ({ kind }) => {
      if (kind === 'down') tellParent({ kind: 'relayDown' })
    },
  })
  const content = createContentBase(base)
  const attempts = createAttempts(base, delivery, content)
  const broadcaster = createBroadcaster(
    base,
    { delivery, content, attempts },
    { isPaused: () => state.isPaused, onPaused: recordPausedBroadcast, onExpired: recordExpiredBroadcast },
  )
  const useConnections = async (ownShare: number) => {
    await delivery.servers.useConnections({ ...connectionPart, ownShare })
    tellParent({ kind: 'connectionsUsed', ownShare })
  }
  const counts = new CountReport(metrics)
  let busyAt = performance.now()
  const idling = setInterval(() => {
    if (broadcaster.running > 0) busyAt = performance.now()
    else if (performance.now() - busyAt >= idleMsMax) void stop()
  }, idleCheckMs)
  broadcaster.start()
  return {
    receive: (message) => {
      if (message.kind === 'hint') hints.receive(message.hint)
      else if (message.kind === 'paused') state.isPaused = message.isPaused
      else if (message.kind === 'baseUrl') state.baseUrl = message.baseUrl
      else if (message.kind === 'connections') void useConnections(message.ownShare)
    },
    stop: async () => {
      clearInterval(idling)
      await broadcaster.stop()
      await delivery.close()
      await base.close()
      await counts.stop()
      await db.close()
      log.flush()
    },
  }
}

/** Requests and other emails go first. On a busy machine, a still lower priority would stop broadcasts. */
function lowerPriority(): void {
  try {
    setPriority(constants.priority.PRIORITY_BELOW_NORMAL)
  } catch {
    // Some sandboxes forbid it.
  }
}
