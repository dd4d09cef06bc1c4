import type { Reader, Writer } from '../db/db.ts'
import type { MessageId, OrganizationId } from '../values/ids.ts'

export type AccountMailRow = {
  organizationId: OrganizationId
  id: MessageId
  recipient: string
  /** Encrypted. */
  content: Buffer
  createdAt: Date
}

export async function insertAccountMail(
  db: Writer,
  mail: Omit<AccountMailRow, 'createdAt'>,
  expiresInMinutes: number,
): Promise<void> {
  await db`
    insert into account_mails (organization_id, id, recipient, content, expires_at)
    values (${mail.organizationId}, ${mail.id}, ${mail.recipient}, ${mail.content},
      now() + ${expiresInMinutes} * interval '1 minute')`
}

/** Claims due emails for the duration of the lease. Concurrent calls wait for the rows and then find them claimed. */
export async function claimAccountMails(
  db: Writer,
  { limit, leaseSeconds }: { limit: number; leaseSeconds: number },
): Promise<AccountMailRow[]> {
  return db<AccountMailRow>`
    with due as materialized (
      select organization_id, id from account_mails
      where next_try_at <= now() and expires_at > now()
      order by next_try_at
      limit ${limit}
    )
    update account_mails
    set next_try_at = now() + ${leaseSeconds} * interval '1 second'
    from due
    where account_mails.organization_id = due.organization_id and account_mails.id = due.id
      and next_try_at <= now()
    returning account_mails.organization_id, account_mails.id, recipient, content, created_at`
}

/** Expired emails would be read again by each claim. */
export async function deleteExpiredAccountMails(db: Writer): Promise<void> {
  await db`delete from account_mails where expires_at <= now()`
}

/** Whether there are due emails, or password resets whose emails have not been written yet. */
export async function hasAccountMailWork(db: Reader): Promise<boolean> {
  const [row] = await db<{ any: boolean }>`
    select exists (select 1 from account_mails where next_try_at <= now() and expires_at > now())
      or exists (select 1 from password_reset_requests) as any`
  return row!.any
}

export async function deleteAccountMails(
  db: Writer,
  keys: Pick<AccountMailRow, 'organizationId' | 'id'>[],
): Promise<void> {
  await db`
    delete from account_mails
    using unnest(${keys.map((key) => key.organizationId)}::uuid[], ${keys.map((key) => key.id)}::uuid[]) as key (organization_id, id)
    where account_mails.organization_id = key.organization_id and account_mails.id = key.id`
}

export async function postponeAccountMails(
  db: Writer,
  keys: Pick<AccountMailRow, 'organizationId' | 'id'>[],
  seconds: number,
): Promise<void> {
  await db`
    update account_mails set next_try_at = now() + ${seconds} * interval '1 second'
    from unnest(${keys.map((key) => key.organizationId)}::uuid[], ${keys.map((key) => key.id)}::uuid[]) as key (organization_id, id)
    where account_mails.organization_id = key.organization_id and account_mails.id = key.id`
}
