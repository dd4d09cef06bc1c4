import { isConnectionFault } from '../../src/platform/db/db.ts'
import { FailureLog } from '../../src/platform/runtime/failure-log.ts'
import type { Log } from '../../src/platform/runtime/log.ts'

export const failureLog = (log: Log): FailureLog => new FailureLog({ log, isOutage: isConnectionFault })
