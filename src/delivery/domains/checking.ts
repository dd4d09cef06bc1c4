import type { Log } from '../../platform/runtime/log.ts'
import { minuteMs } from '../../platform/values/durations.ts'
import { Refusal } from '../../platform/values/errors.ts'
import type { OrganizationId } from '../../platform/values/ids.ts'
import type { Domain } from './domain.ts'
import { postponeFailed, selectDue, takeDue } from './domains.sql.ts'
import { type DomainParts, verifyDomain } from './domains.ts'

/** Checks per run. What is left is due in the next one. */
const checksMax = 100
const concurrentMax = 10
/** A run starts no check after this time, because it does not know the domains that were added since. */
const runMsMax = 30_000
/** If this process is killed during a check, another one repeats it after this time. */
const takenMs = 5 * minuteMs

type CheckingParts = DomainParts & { log: Log }
type Key = Pick<Domain, 'organizationId' | 'id'>

/** Checks the domains that are due: of each organization one at a time, and those of all organizations in turn. */
export async function checkDueDomains(parts: CheckingParts): Promise<void> {
  const until = performance.now() + runMsMax
  const due = await selectDue(parts.db, checksMax)
  const byOrganization = new Map<OrganizationId, Key[]>()
  for (const key of due) {
    const queue = byOrganization.get(key.organizationId)
    if (queue) queue.push(key)
    else byOrganization.set(key.organizationId, [key])
  }
  const queues = [...byOrganization.values()]
  const check = async () => {
    for (let queue = queues.shift(); queue && performance.now() < until; queue = queues.shift()) {
      await checkDomain(parts, queue.shift()!)
      if (queue.length > 0) queues.push(queue)
    }
  }
  await Promise.all(Array.from({ length: concurrentMax }, check))
}

/** A check that fails is repeated after growing delays. It does not end the run, whose other domains belong to others. */
async function checkDomain(parts: CheckingParts, key: Key): Promise<void> {
  const { db, log } = parts
  try {
    const domain = await takeDue(db.statement, key, takenMs)
    if (domain) await verifyDomain(parts, domain)
  } catch (error) {
    await postponeFailed(db.statement, key, takenMs)
    // The domain was deleted during the check, or another organization has verified it. It stays as it is.
    if (error instanceof Refusal) return
    log.error({ err: error, organization: key.organizationId, domain: key.id }, 'A domain could not be checked')
  }
}
