import { type Area, loopsOf } from '../platform/area.ts'
import type { Platform } from '../platform/platform.ts'
import { Worker } from '../platform/queue/worker.ts'
import { hourMs } from '../platform/values/durations.ts'
import { type BulkActionParts, bulkActionWorker } from './bulk-actions/bulk-action.job.ts'
import { bulkActionRoutes } from './bulk-actions/bulk-actions.routes.ts'
import { consentRoutes } from './contacts/consents.routes.ts'
import { contactRoutes } from './contacts/contacts.routes.ts'
import { groupRoutes } from './contacts/groups.routes.ts'
import { memberRoutes } from './contacts/members.routes.ts'
import { MemberAdder } from './contacts/members.ts'
import { type ImportParts, importWorker } from './imports/import.job.ts'
import { readImportTask } from './imports/import.task.ts'
import { importRoutes } from './imports/imports.routes.ts'
import { type UndoParts, undoWorker } from './imports/undo.job.ts'
import { forgetExpiredChanges } from './imports/undo.ts'
import { segmentRoutes } from './segments/segments.routes.ts'
import { suppressionListRoutes } from './suppressions/address-list.routes.ts'
import { suppressionRoutes } from './suppressions/suppressions.routes.ts'

/** What areas above provide. */
export type AudienceHooks = {
  onImportFinished: NonNullable<ImportParts['onFinished']>
  erase: BulkActionParts['erase']
  forgetContacts: UndoParts['forgetContacts']
}

export function audienceArea(platform: Platform, hooks: AudienceHooks): Area {
  const { db, log, failures, hints, read, work, tasks, stageRegistry } = platform
  const { readFirst, readQuickly, readCounts } = platform
  const worker = { db, log, failures, hints }
  const importing = importWorker({
    db,
    log,
    readSlice: (organizationId, input) => tasks.run(readImportTask, { organizationId, input, whenFull: 'wait' }),
    onFinished: hooks.onImportFinished,
  })
  return {
    routes: {
      publicApi: [memberRoutes({ members: new MemberAdder(db, stageRegistry, tasks), stageRegistry })],
      organization: [
        contactRoutes({ db, read, readFirst, readQuickly, readCounts }),
        bulkActionRoutes({ db, read }),
        consentRoutes({ read }),
        groupRoutes({ db, read }),
        segmentRoutes({ db, read }),
        importRoutes({ db, read, tasks }),
        suppressionRoutes({ db, read }),
        suppressionListRoutes({ db, tasks }),
      ],
    },
    background: [
      new Worker({ ...worker, spec: importing }),
      new Worker({ ...worker, spec: bulkActionWorker({ db, work, erase: hooks.erase }) }),
      new Worker({ ...worker, spec: undoWorker({ db, work, forgetContacts: hooks.forgetContacts }) }),
      loopsOf(platform)('forget changes of imports', hourMs, () => forgetExpiredChanges(db)),
    ],
  }
}
