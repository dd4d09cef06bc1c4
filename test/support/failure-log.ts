import { isConnectionFault } from '../../src/db/db.ts'
import { FailureLog } from '../../src/runtime/failure-log.ts'
import type { Log } from '../../src/runtime/log.ts'

export const failureLog = (log: Log): FailureLog => new FailureLog({ log, isOutage: isConnectionFault })
