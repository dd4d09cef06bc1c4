import { setTimeout as sleep } from 'node:timers/promises'
import type { Reader } from '../../platform/db/db.ts'
import type { AddressIds, Tokens } from '../../platform/secrets/tokens.ts'
import { groupBy } from '../../platform/values/group-by.ts'
import { type EmailId, leastId, type MessageId, type OrganizationId, parseId } from '../../platform/values/ids.ts'
import {
  findMessageByQueueId,
  findMessages,
  findMessagesOfAnyone,
  findMessagesOfEmails,
  type SentMessage,
} from '../tracking/tracking.sql.ts'

/** The clues in a report about the message it refers to, most reliable first. */
export type Clues = {
  /** Candidates for the signed id of a message: the local part of its envelope sender, or its header. */
  signed: readonly string[]
  /** Message-IDs, with or without angle brackets. */
  messageIds: readonly string[]
  /** The address that the report is about. The emails of several recipients have the same Message-ID. */
  recipient?: string | undefined
  /** Ids under which a relay queued the message. */
  queueIds?: readonly string[]
}

/** A message of a broadcast is recorded after it was sent, so a mail server may report on it before. */
const waitMs = 5_000
const checkEveryMs = 250
/** Messages of broadcasts get their id when their chunk is started, which may be this long before they are sent. */
const recentMs = 3_600_000

/**
 * Finds the messages of many reports at once. If a signed id names an organization, only its messages are searched, so
 * that no one can report on messages of others. Waits for a while for recent messages that are not recorded yet. With an
 * organization, messages of others are never found.
 */
export async function findReported(
  db: Reader,
  tokens: Tokens,
  reports: readonly Clues[],
  organizationId?: OrganizationId,
): Promise<(SentMessage | undefined)[]> {
  const leads = reports.map((clues) => leadOf(tokens, clues, organizationId))
  await nameShared(db, leads)
  const recent = leastId('msg', Date.now() - recentMs)
  const deadline = performance.now() + waitMs
  for (;;) {
    const found = await findMessagesOf(db, leads)
    const isRecent = ({ signed }: Lead) => signed.some(({ messageId }) => messageId > recent)
    const isEarly = found.some((message, index) => !message && isRecent(leads[index]!))
    if (!isEarly || performance.now() > deadline) return found
    await sleep(checkEveryMs)
  }
}

/** Finds the messages that are named by the Message-ID of an email to several recipients. */
async function nameShared(db: Reader, leads: readonly Lead[]): Promise<void> {
  const shared = leads.filter(({ emailIds }) => emailIds.length > 0)
  if (shared.length === 0) return
  const emailIds = new Set(shared.flatMap((lead) => lead.emailIds))
  const recipients = new Set(shared.map(({ recipient }) => recipient!))
  const rows = await findMessagesOfEmails(db, [...emailIds], [...recipients])
  const messages = new Map(groupBy(rows, ({ emailId, email }) => `${emailId} ${email}`))
  for (const { emailIds: ids, recipient, organizationId, named } of shared)
    for (const emailId of ids)
      for (const message of messages.get(`${emailId} ${recipient}`) ?? [])
        if (organizationId === undefined || organizationId === message.organizationId) named.push(message.id)
}

async function findMessagesOf(db: Reader, leads: readonly Lead[]): Promise<(SentMessage | undefined)[]> {
  const unsigned = leads.flatMap((lead) => (lead.organizationId === undefined ? lead.named : []))
  const signedMessages = new Map(
    (await findMessages(db, leads.flatMap(keysOf))).map((each) => [keyOf(each.organizationId, each.id), each]),
  )
  const unsignedMessages = new Map(
    (await findMessagesOfAnyone(db, [...new Set(unsigned)])).map((each) => [each.id, each]),
  )
  const found: (SentMessage | undefined)[] = []
  for (const lead of leads) {
    const { organizationId } = lead
    const candidates = organizationId
      ? keysOf(lead).map((key) => signedMessages.get(keyOf(key.organizationId, key.messageId)))
      : lead.named.map((id) => unsignedMessages.get(id))
    const message = candidates.find(Boolean)
    found.push(message ?? (organizationId && (await findMessageByQueueId(db, organizationId, lead.queueIds))))
  }
  return found
}

/** The same id can exist in several organizations, because ids are kept when an organization is imported. */
const keyOf = (organizationId: OrganizationId, id: MessageId) => `${organizationId} ${id}`

type Lead = {
  organizationId: OrganizationId | undefined
  signed: AddressIds[]
  named: MessageId[]
  emailIds: EmailId[]
  recipient: string | undefined
  queueIds: string[]
}

function leadOf(tokens: Tokens, { signed, messageIds, recipient, queueIds = [] }: Clues, only?: OrganizationId): Lead {
  const verified = signed.flatMap((text) => tokens.verify('bounce', localPart(text)) ?? [])
  const allowed = only ? verified.filter(({ organizationId }) => organizationId === only) : verified
  const names = messageIds.map((text) => localPart(text.replace(/^\s*<|>\s*$/g, '')))
  return {
    organizationId: only ?? allowed[0]?.organizationId,
    signed: allowed,
    named: names.flatMap((name) => parseId('msg', name) ?? []),
    emailIds: recipient ? names.flatMap((name) => parseId('eml', name) ?? []) : [],
    recipient: recipient?.toLowerCase(),
    queueIds: [...queueIds],
  }
}

/** Returns the keys of the signed message and of those named by Message-ID in the same organization. */
function keysOf({ organizationId, signed, named }: Lead): AddressIds[] {
  return organizationId ? [...signed, ...named.map((messageId) => ({ organizationId, messageId }))] : []
}

export function localPart(address: string): string {
  const at = address.lastIndexOf('@')
  return (at === -1 ? address : address.slice(0, at)).trim().toLowerCase()
}
