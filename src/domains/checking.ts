import { minuteMs } from '../values/durations.ts'
import { Refusal } from '../values/errors.ts'
import { selectDue, takeDue } from './domains.sql.ts'
import { type DomainParts, verifyDomain } from './domains.ts'

/** Checks per run. What is left is due in the next one. */
const checksMax = 100
const concurrentMax = 5
/** If this process is killed during a check, another one repeats it after this time. */
const takenMs = 5 * minuteMs

/** Checks the domains that are due. */
export async function checkDueDomains(parts: DomainParts): Promise<void> {
  const due = await selectDue(parts.db, checksMax)
  const check = async () => {
    for (let key = due.shift(); key; key = due.shift()) {
      const domain = await takeDue(parts.db.statement, key, takenMs)
      if (domain) await verifyDomain(parts, domain).catch(ignoreRefusal)
    }
  }
  await Promise.all(Array.from({ length: concurrentMax }, check))
}

/** The domain was deleted during the check, or another organization has verified it. It stays as it is. */
function ignoreRefusal(error: unknown): void {
  if (!(error instanceof Refusal)) throw error
}
