import { actorMay, lackOf } from '../../accounts/accounts.ts'
import type { Db, Reader, Tx } from '../../platform/db/db.ts'
import type { SecretBox } from '../../platform/secrets/secrets.ts'
import { type Actor, userOf } from '../../platform/values/actor.ts'
import { conflict, existing, invalid } from '../../platform/values/errors.ts'
import { type MailServerId, newId, type OrganizationId } from '../../platform/values/ids.ts'
import type { MailServer } from './mail-server.ts'
import type { MailServerChanges, MailServerInput } from './mail-servers.shapes.ts'
import {
  countMailServers,
  deleteMailServerRow,
  findMailServer,
  insertMailServer,
  lockMailServerRow,
  type SealedMailServer,
  updateMailServer,
} from './mail-servers.sql.ts'
import { credentialsOf, settingsOf, storedTarget, type Target, targetOf } from './settings.ts'
import { testedAt } from './test-tokens.ts'

export const mailServersMax = 20

export type ManageParts = {
  db: Db
  box: SecretBox
  /** Also allow private addresses and any port, for development or a private network. */
  allowPrivate: boolean
  /** Informs the owners, in the transaction of the change. */
  onConnectionChange: (tx: Tx, change: ConnectionChange) => Promise<void>
  /** Called after a change was committed. */
  onChanged: (organizationId: OrganizationId) => Promise<void>
}

/** Email takes another way, or is seen by others, from now on. */
export type ConnectionChange = {
  change: 'added' | 'moved' | 'shared'
  before: MailServer | undefined
  after: MailServer
}

/** What belongs to the whole installation is changed by its operator only, whatever else the actor may do. */
function checkAuthority(actor: Actor, servers: readonly { isShared?: boolean | undefined }[]): void {
  if (!actorMay(actor, 'installation:write') && servers.some(({ isShared }) => isShared))
    throw lackOf('installation:write')
}

/** Throws `Refusal` if the input is invalid, the caller may not do this or the organization has too many mail servers. */
export async function addMailServer(
  { db, box, allowPrivate, onConnectionChange, onChanged }: ManageParts,
  actor: Actor,
  organizationId: OrganizationId,
  input: MailServerInput,
): Promise<MailServer> {
  checkAuthority(actor, [input])
  const target = targetOf(input, undefined, { allowPrivate })
  const settings = settingsOf(box, input, target, undefined)
  const tested = testedAt(box, organizationId, target, input.testToken)
  if ((await countMailServers(db, organizationId)) >= mailServersMax)
    throw conflict(
      `An organization can have at most ${mailServersMax} mail servers. Delete one that is no longer needed.`,
    )
  const added = await db.by(actor).begin(async (tx) => {
    const key = { organizationId, id: newId('mse') }
    await insertMailServer(tx, key, settings, { connectedBy: userOf(actor), testedAt: tested })
    const after = await getMailServer(tx, organizationId, key.id)
    // A member could replace a mail server instead of changing it.
    if (after.isShared || !actorMay(actor, 'mail_servers:confirm'))
      await onConnectionChange(tx, { change: 'added', before: undefined, after })
    return after
  })
  await onChanged(organizationId)
  return added
}

/** Throws `Refusal` if it does not exist, the caller may not change it or the input is invalid. */
export async function changeMailServer(
  { db, box, allowPrivate, onConnectionChange, onChanged }: ManageParts,
  actor: Actor,
  organizationId: OrganizationId,
  id: MailServerId,
  changes: MailServerChanges,
): Promise<MailServer> {
  const changed = await db.by(actor).begin(async (tx) => {
    const current = await existing('mail server', lockMailServerRow(tx, organizationId, id))
    checkAuthority(tx.actor, [current, changes])
    const before = storedTarget(box, current)
    if (!before && changes.password === undefined && changes.oauth === undefined && changes.url === undefined)
      throw invalid({ path: 'password', problem: 'must be entered again: it was encrypted with another APP_SECRET' })
    const target = targetOf(changes, before ?? withoutSecrets(current), { allowPrivate })
    const settings = settingsOf(box, changes, target, current)
    const isNew = before === undefined || !isSame(before, target)
    const stored = isNew ? settings : { ...settings, url: current.url, oauth: current.oauth }
    // An owner who enters the same credentials again confirms how it connects.
    const isConfirmed =
      actorMay(actor, 'mail_servers:confirm') && (changes.url ?? changes.password ?? changes.oauth) !== undefined
    const connectedBy = isNew || isConfirmed ? userOf(actor) : null
    await updateMailServer(tx, { organizationId, id }, stored, { isNew, connectedBy })
    const after = await getMailServer(tx, organizationId, id)
    const change = isNew ? 'moved' : after.isShared && !current.isShared ? 'shared' : undefined
    if (change) await onConnectionChange(tx, { change, before: current, after })
    return after
  })
  await onChanged(organizationId)
  return changed
}

/** What is known of a mail server whose credentials cannot be decrypted. */
const withoutSecrets = ({ host, port, security, username, preset }: SealedMailServer): Target => ({
  connection: { host, port, security, username, password: null, verifiesCertificate: true, clientName: null },
  oauth: null,
  preset,
})

const isSame = (one: Target, other: Target) =>
  JSON.stringify(credentialsOf(one)) === JSON.stringify(credentialsOf(other)) &&
  one.connection.username === other.connection.username

/** Throws `Refusal` if it does not exist or the caller may not delete it. */
export async function removeMailServer(
  { db, onChanged }: Pick<ManageParts, 'db' | 'onChanged'>,
  actor: Actor,
  organizationId: OrganizationId,
  id: MailServerId,
): Promise<void> {
  await db.by(actor).begin(async (tx) => {
    checkAuthority(tx.actor, [await existing('mail server', lockMailServerRow(tx, organizationId, id))])
    await deleteMailServerRow(tx, organizationId, id)
  })
  await onChanged(organizationId)
}

export const getMailServer = (
  db: Reader,
  organizationId: OrganizationId,
  id: MailServerId,
): Promise<SealedMailServer> => existing('mail server', findMailServer(db, organizationId, id))
