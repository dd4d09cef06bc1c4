import { setTimeout as sleep } from 'node:timers/promises'
import { isRetryable } from '../../src/platform/db/db.ts'
import { Refusal } from '../../src/platform/values/errors.ts'
import { type EmailId, type OrganizationId, parseId } from '../../src/platform/values/ids.ts'
import { cancelEmail, rescheduleEmail } from '../../src/sending/messages/email-messages.ts'
import { fill } from './broadcasts.ts'
import { createFlow, send } from './flows.ts'
import { addMailServer } from './mail-servers.ts'
import { type ReceivedEmail, startRelay, type TestRelay } from './relay.ts'
import type { Seeded } from './seeded.ts'
import type { TestApp } from './test-app.ts'
import { until } from './until.ts'

const hourMs = 3_600_000
/** A mail server of the model answers after this time at most. */
const slowMsMax = 120

/** An email that the mail servers accepted. */
type Delivery = { messageId: string; at: number }

/** The mail servers, which defer, are slow and fail, and what they accepted. */
export class Recipients {
  readonly deliveries = new Map<string, Delivery[]>()
  /** Recipients whose connection broke during the transfer: the mail server accepted the email, but its reply was lost. */
  readonly unanswered = new Set<string>()
  readonly #inTransfer = new Set<string>()
  /** Whether faults are injected. At the end, everything is accepted. */
  isCalm = false
  readonly #random: Seeded
  #breaking: TestRelay | undefined

  constructor(random: Seeded) {
    this.#random = random
  }

  attach(relay: TestRelay): TestRelay {
    const deferral = { code: 451, text: '4.7.1 Try again later' }
    relay.onRecipient = () => (!this.isCalm && this.#random.chance(0.2) ? deferral : undefined)
    relay.onData = async (mail) => {
      this.#inTransfer.add(mail.recipient)
      if (!this.isCalm && this.#random.chance(0.4)) await sleep(this.#random.int(1, slowMsMax))
      this.#inTransfer.delete(mail.recipient)
      if (!this.isCalm && this.#random.chance(0.1)) return deferral
      this.#accept(mail)
      return undefined
    }
    return relay
  }

  #accept({ recipient, raw }: ReceivedEmail): void {
    const messageId = /^Message-ID: (\S+)/im.exec(raw)![1]!
    this.deliveries.set(recipient, [...this.countOf(recipient), { messageId, at: Date.now() }])
  }

  countOf(recipient: string): Delivery[] {
    return this.deliveries.get(recipient) ?? []
  }

  /** Starts the mail server that has outages, at the same port each time. */
  async breakingRelay(): Promise<TestRelay> {
    this.#breaking = this.attach(await startRelay({ parse: false }))
    return this.#breaking
  }

  /** New connections are refused for this time, and the others break. */
  async outage(ms: number): Promise<void> {
    const { port } = this.#breaking!
    const { onRecipient, onData } = this.#breaking!
    this.#breaking!.dropConnections()
    for (const recipient of this.#inTransfer) this.unanswered.add(recipient)
    await this.#breaking!.stop()
    await sleep(ms)
    this.#breaking = Object.assign(await startRelay({ port, parse: false }), { onRecipient, onData })
  }

  stop = () => this.#breaking!.stop()
}

/** What the API answered for a recipient. */
type Promised = {
  subject: string
  isCancelled: boolean
  /** A cancellation was rejected because the email is being sent or was sent. */
  isRefused: boolean
  /** The time that the last accepted change of its schedule named. */
  notBefore: number
  /** Set for recipients of broadcasts. */
  broadcastId: string | null
  createdAt: number
}

/** Workers renew their leases, and notice that they have lost them, within this time. */
const noticedWithinMs = 10_000

export type Model = {
  /** Runs one interleaving: accepts an email or broadcast, and changes it while it is being sent. */
  run(): Promise<void>
  /** Waits until everything has ended, and returns what the answers and the mail servers disagree about. */
  problems(): Promise<string[]>
  /** The leases of all lanes expire, as those of a worker that was killed or stands still: others repeat what is in flight. */
  expireLeases(): Promise<void>
  counts(): Record<string, number>
}

type Organization = { app: TestApp; flowId: string; broadcasts: Awaited<ReturnType<typeof fill>> }

/** Creates organizations whose emails leave freely, at a limit, and through a mail server that has outages. */
export async function createModel(
  newOrganization: () => Promise<TestApp>,
  recipients: Recipients,
  { random, steadyUrl, breakingUrl }: { random: Seeded; steadyUrl: string; breakingUrl: string },
): Promise<Model> {
  const organizations: Organization[] = []
  for (const server of [undefined, { url: steadyUrl, messages_per_second: 25 }, { url: breakingUrl }]) {
    const app = await newOrganization()
    if (server) await addMailServer(app, server)
    organizations.push({ app, flowId: await createFlow(app), broadcasts: await fill(app) })
  }
  const { db } = organizations[0]!.app
  const promises = new Map<string, Promised>()
  /** These may get their email several times, with the same Message-ID. */
  const repeated = new Set<string>()
  /** When leases expired. The workers notice it when they renew them, and until then send what is accepted. */
  const expiredAt: number[] = []
  const noteOpen = async () => {
    const open = await db<{ email: string }>`
      select email from messages where status = 'queued'
      union all
      select contacts.email from broadcast_recipients recipient
      join contacts on contacts.organization_id = recipient.organization_id and contacts.id = recipient.contact_id
      where recipient.status in ('pending', 'queued')`
    for (const { email: recipient } of open) repeated.add(recipient)
  }
  const isRepeatedOf = (email: string, { createdAt }: Promised) =>
    repeated.has(email) || expiredAt.some((at) => createdAt >= at && createdAt < at + noticedWithinMs)
  const tally: Record<string, number> = {}
  const count = (what: string) => {
    tally[what] = (tally[what] ?? 0) + 1
  }
  let created = 0
  const promise = (subject: string, more: Partial<Promised> = {}) => {
    const email = `r${created++}@example.com`
    const plain = { isCancelled: false, isRefused: false, notBefore: 0, broadcastId: null, createdAt: Date.now() }
    promises.set(email, { subject, ...plain, ...more })
    return email
  }

  const message = async ({ app, flowId }: Organization, choices: Seeded) => {
    const sendAt = choices.chance(0.3) ? new Date(Date.now() + choices.int(50, 500)) : undefined
    const email = promise('message')
    const sent = await send(app, flowId, { contact_email: email, ...(sendAt && { send_at: sendAt.toISOString() }) })
    if (sent.status !== 200) throw new Error(sent.text)
    const promised = promises.get(email)!
    if (sent.body.data.send_at) promised.notBefore = Number(sendAt)
    const cancel = async (delayMs: number) => {
      await sleep(delayMs)
      const { status } = await app.publicApi('DELETE', `/messages/${sent.body.data.message_id}`)
      count(`cancel message ${status}`)
      if (status === 200) promised.isCancelled = true
      else promised.isRefused = true
    }
    const times = choices.pick([0, 1, 1, 1, 2])
    await Promise.all(Array.from({ length: times }, () => cancel(choices.int(0, 500))))
  }

  const email = async ({ app }: Organization, choices: Seeded) => {
    const isScheduled = choices.chance(0.5)
    const to = Array.from({ length: choices.int(2, 4) }, () => promise('email'))
    const later = () => new Date(Date.now() + hourMs)
    const body = { from: 'hello@acme.example', to, subject: 'Hello', text: 'Hello' }
    const sent = await app.publicApi('POST', '/emails', {
      ...body,
      ...(isScheduled && { send_at: later().toISOString() }),
    })
    if (sent.status !== 200) throw new Error(sent.text)
    const organizationId = parseId('org', app.organizationId) as OrganizationId
    const id = parseId('eml', sent.body.data.id) as EmailId
    let waitsLong = isScheduled
    const attempt = async (what: string, change: () => Promise<void>) => {
      try {
        await change()
        count(`${what} email 200`)
      } catch (error) {
        if (!(error instanceof Refusal) || error.type !== 'conflict') throw error
        count(`${what} email 409`)
        if (what === 'cancel') for (const recipient of to) promises.get(recipient)!.isRefused = true
      }
    }
    const reschedule = (sendAt: Date) =>
      attempt('reschedule', async () => {
        await rescheduleEmail(db, organizationId, id, sendAt)
        waitsLong = +sendAt > Date.now() + hourMs / 2
        for (const recipient of to) promises.get(recipient)!.notBefore = +sendAt
      })
    const cancel = () =>
      attempt('cancel', async () => {
        for (const { email: recipient, status } of await cancelEmail(db, organizationId, id))
          if (status === 'cancelled') promises.get(recipient)!.isCancelled = true
          else promises.get(recipient)!.isRefused = true
        waitsLong = false
      })
    for (let step = choices.int(0, 3); step > 0; step--) {
      await sleep(choices.int(0, 250))
      if (isScheduled && choices.chance(0.6))
        await reschedule(choices.chance(0.3) ? later() : new Date(Date.now() + choices.int(0, 200)))
      else await cancel()
    }
    if (waitsLong) await reschedule(new Date())
  }

  const broadcast = async ({ broadcasts: { group, create } }: Organization, choices: Seeded) => {
    const to = Array.from({ length: choices.int(1, 5) }, () => promise('broadcast'))
    const { id, get, act, start } = await create([await group(`Group ${created}`, to)])
    for (const recipient of to) promises.get(recipient)!.broadcastId = parseId('brc', id) as string
    await until(
      'the broadcast to start',
      async () => {
        const started = await start()
        // Too many broadcasts are being checked or started.
        if (started.status === 503) return void (await sleep(300))
        if (started.status !== 202 && started.status !== 200) throw new Error(started.text)
        return true
      },
      hourMs,
    )
    for (let step = choices.int(0, 4); step > 0; step--) {
      await sleep(choices.int(0, 400))
      const action = choices.pick(['pause', 'pause', 'resume', 'resume', 'cancel'])
      count(`${action} broadcast ${(await act(action)).status}`)
    }
    const ended = async () => {
      const found = await get()
      // The service was busy: ask again.
      if (!found) return false
      const { status, counts } = found
      if (status === 'paused') await act(choices.pick(['resume', 'cancel']))
      return status === 'sent' || (status === 'cancelled' && !counts.pending && !counts.queued)
    }
    await until('the broadcast to end', async () => (await ended()) || void (await sleep(300)), hourMs)
  }

  const subjects = [...Array(12).fill(message), ...Array(7).fill(email), broadcast] as (typeof message)[]
  return {
    counts: () => tally,
    run: () => {
      const choices = random.fork()
      return choices.pick(subjects)(choices.pick(organizations), choices)
    },
    expireLeases: async () => {
      // Workers lock lanes in another order.
      const skipDeadlock = (error: unknown) => {
        if (!isRetryable(error)) throw error
      }
      // Before and after it, because some end in between.
      await noteOpen()
      await db.statement`update lanes set leased_until = '-infinity', next_due_at = now() where token is not null`.catch(
        skipDeadlock,
      )
      await noteOpen()
      expiredAt.push(Date.now())
    },
    problems: async () => {
      recipients.isCalm = true
      await until(
        'all outcomes',
        async () => {
          const [row] = await db<{ open: number }>`select count(*) as open from messages where status = 'queued'`
          return row!.open === 0 || void (await sleep(300))
        },
        hourMs,
      )
      const rows = await db<{ email: string; status: string; sent: number; ledger: string | null }>`
        select contacts.email, messages.status, recipient.status as ledger,
          (select count(*) from events where events.message_id = messages.id and event_name = 'emailSent') as sent
        from contacts
        left join broadcast_recipients recipient
          on recipient.organization_id = contacts.organization_id and recipient.contact_id = contacts.id
        left join messages on messages.organization_id = contacts.organization_id and messages.contact_id = contacts.id`
      const rowOf = new Map(rows.map((row) => [row.email, row]))
      return [...promises].flatMap(([address, promised]) => {
        const row = rowOf.get(address)
        const deliveries = recipients.countOf(address)
        const isTakenOver = isRepeatedOf(address, promised)
        const isRepeated = isTakenOver || recipients.unanswered.has(address)
        // A broadcast is cancelled at any time, so the email may be with the mail server.
        const mayBeDelivered = isTakenOver || (promised.broadcastId && recipients.unanswered.has(address))
        // A broadcast that was cancelled before its recipients were chosen has none.
        const status = promised.broadcastId ? (row?.ledger ?? 'cancelled') : (row?.status ?? 'missing')
        const isSent = status === 'sent'
        // A worker whose lease expired while it was sending may record that the email left after it was cancelled.
        const mayHaveEvent = isTakenOver && deliveries.length > 0
        const found = [
          isSent || status === 'cancelled' ? '' : 'has an unexpected status',
          promised.isCancelled && status !== 'cancelled' ? 'was cancelled' : '',
          isSent && deliveries.length === 0 ? 'was not delivered' : '',
          !isSent && deliveries.length > 0 && !mayBeDelivered ? 'was delivered' : '',
          deliveries.length > 1 && !isRepeated ? 'was delivered several times' : '',
          new Set(deliveries.map(({ messageId }) => messageId)).size > 1 ? 'has several Message-IDs' : '',
          // A worker whose lease expired may be sending it when its time is changed.
          !isTakenOver && deliveries.some(({ at }) => at < promised.notBefore)
            ? `was delivered ${promised.notBefore - Math.min(...deliveries.map(({ at }) => at))} ms too early`
            : '',
          (row?.sent ?? 0) !== (isSent ? 1 : 0) && !(mayHaveEvent && row?.sent === 1) ? `has ${row?.sent} events` : '',
          !promised.isCancelled && !promised.broadcastId && status === 'cancelled' ? 'was not to be cancelled' : '',
        ].filter((problem) => problem !== '')
        return found.length > 0
          ? [`${promised.subject} to ${address}, ${status}, ${deliveries.length} deliveries: ${found.join(', ')}`]
          : []
      })
    },
  }
}
