import { hkdfSync } from 'node:crypto'
import { register } from '../../accounts/accounts.ts'
import { scheduleBroadcast } from '../../broadcasts/broadcasts.ts'
import { changeWebhook, ensurePartitions, rebuildCounters, webhookSecretBox } from '../../events/events.ts'
import type { BoundedRead } from '../../platform/db/bounded-read.ts'
import type { Db } from '../../platform/db/db.ts'
import type { Bucket } from '../../platform/object-storage/bucket.ts'
import type { Log } from '../../platform/runtime/log.ts'
import type { AppSecrets, SecretBox } from '../../platform/secrets/secrets.ts'
import type { OrganizationId } from '../../platform/values/ids.ts'
import { demoDomain } from '../../platform/values/simulated-recipients.ts'
import { removeOrganization } from '../privacy/delete-organization.ts'
import { eraseDeletedOrganizations } from '../privacy/erase-organization.ts'
import { findDemo, findDraftBroadcasts, findWebhooks } from './demo.sql.ts'
import { importRecording } from './recording.ts'

export const demoAccount = { email: `demo@${demoDomain}`, organizationName: 'Waxwing demo' }

export type DemoAccount = { email: string; password: string }
/** `createdAt`: when the sample data ends. */
export type Demo = { account: DemoAccount; createdAt: Date }

/** The password follows from APP_SECRET: it can be shown at every start, and nobody else can guess it. */
const passwordOf = ({ current }: AppSecrets): string =>
  Buffer.from(hkdfSync('sha256', current, '', 'password of the demo account', 12)).toString('base64url')

/** Creates the demo organization with sample data of the last 60 days, unless it exists. */
export async function ensureDemo(db: Db, secrets: AppSecrets, baseUrl: string): Promise<Demo> {
  const account = { email: demoAccount.email, password: passwordOf(secrets) }
  if (!(await findDemo(db, demoAccount))) await createDemo(db, { secrets, account, baseUrl })
  const { createdAt } = (await findDemo(db, demoAccount))!
  return { account, createdAt }
}

type NewDemo = { secrets: AppSecrets; account: DemoAccount; baseUrl: string }

async function createDemo(db: Db, { secrets, account, baseUrl }: NewDemo): Promise<void> {
  const box = webhookSecretBox(secrets)
  const { organizationId, id: userId } = await register(db, 'operator', { ...demoAccount, ...account })
  await ensurePartitions(db)
  await importRecording(db, { organizationId, userId }, { secrets, baseUrl, nowMs: Date.now() })
  await rebuildCounters(db)
  await activate(db, organizationId, box)
}

/**
 * Resumes the webhooks, which an import pauses, and schedules the drafts. The hosts of the webhooks do not exist, and the
 * emails of broadcasts stay in the built-in inbox.
 */
async function activate(db: Db, organizationId: OrganizationId, box: SecretBox): Promise<void> {
  for (const { id } of await findWebhooks(db, organizationId))
    await changeWebhook({ db, box, allowPrivate: false }, organizationId, id, { status: 'active' })
  const read: BoundedRead = (organization, work) => db.begin((tx) => work(tx, organization))
  const confirmation = { recipients: undefined, unsubscribed: undefined, mayAnnounce: false }
  // The sender of the demo is that of the installation.
  const senders = { check: async () => {} }
  for (const { id } of await findDraftBroadcasts(db, organizationId))
    await scheduleBroadcast({ db, read, senders }, { organizationId, id }, confirmation)
}

/** Deletes the demo organization with all of its data. Returns false if there is none. */
export async function removeDemo(db: Db, log: Log, bucket?: Bucket): Promise<boolean> {
  const demo = await findDemo(db, demoAccount)
  if (!demo) return false
  await removeOrganization(db, demo.organizationId)
  // A running service would do this within a minute; without one, it is done now.
  await eraseDeletedOrganizations({ db, log, bucket })
  return true
}
