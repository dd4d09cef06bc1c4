import type { Db } from '../db/db.ts'
import type { SecretBox } from '../secrets/secrets.ts'
import { conflict, existing, invalid, notFound } from '../values/errors.ts'
import { type MailServerId, newId, type OrganizationId } from '../values/ids.ts'
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

export const mailServersMax = 20

export type ManageParts = {
  db: Db
  box: SecretBox
  /** Also allow private addresses and any port, for development or a private network. */
  allowPrivate: boolean
  /** Called after a change was committed. */
  onChanged: (organizationId: OrganizationId) => Promise<void>
}

/** Throws `Refusal` if the input is invalid or the organization has too many mail servers. */
export async function addMailServer(
  { db, box, allowPrivate, onChanged }: ManageParts,
  organizationId: OrganizationId,
  input: MailServerInput,
): Promise<MailServer> {
  const settings = settingsOf(box, input, targetOf(input, undefined, { allowPrivate }), undefined)
  if ((await countMailServers(db, organizationId)) >= mailServersMax)
    throw conflict(
      `An organization can have at most ${mailServersMax} mail servers. Delete one that is no longer needed.`,
    )
  const added = await insertMailServer(db.statement, { organizationId, id: newId('mse') }, settings)
  await onChanged(organizationId)
  return added
}

/** Throws `Refusal` if it does not exist or the input is invalid. */
export async function changeMailServer(
  { db, box, allowPrivate, onChanged }: ManageParts,
  organizationId: OrganizationId,
  id: MailServerId,
  changes: MailServerChanges,
): Promise<MailServer> {
  const changed = await db.begin(async (tx) => {
    const current = await existing('mail server', lockMailServerRow(tx, organizationId, id))
    const before = storedTarget(box, current)
    if (!before && changes.password === undefined && changes.oauth === undefined && changes.url === undefined)
      throw invalid({ path: 'password', problem: 'must be entered again: it was encrypted with another APP_SECRET' })
    const target = targetOf(changes, before ?? withoutSecrets(current), { allowPrivate })
    const settings = settingsOf(box, changes, target, current)
    const isNew = before === undefined || !isSame(before, target)
    const stored = isNew ? settings : { ...settings, url: current.url, oauth: current.oauth }
    return updateMailServer(tx, { organizationId, id }, stored, { isNew })
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

export async function removeMailServer(
  { db, onChanged }: Pick<ManageParts, 'db' | 'onChanged'>,
  organizationId: OrganizationId,
  id: MailServerId,
): Promise<void> {
  if (!(await deleteMailServerRow(db.statement, organizationId, id))) throw notFound('mail server')
  await onChanged(organizationId)
}

export const getMailServer = (db: Db, organizationId: OrganizationId, id: MailServerId): Promise<SealedMailServer> =>
  existing('mail server', findMailServer(db, organizationId, id))
