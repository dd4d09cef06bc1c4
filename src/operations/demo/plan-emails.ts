import type { Variant } from '../../broadcasts/broadcasts.ts'
import { dayMs } from '../../platform/values/durations.ts'
import { type BroadcastId, type ContactId, derivedId, type MessageId } from '../../platform/values/ids.ts'
import { chanceOf } from './chance.ts'
import type { PastFlow, PlannedMessage, Recipient } from './planned-message.ts'
import { opensOf, reactionTo } from './reactions.ts'

/** The last email is older than its bounce would take. */
const lastEmailBeforeMs = 120_000

type Rates = { softBounces: number; hardBounces: number }

export type BroadcastPlan = {
  id: BroadcastId
  flow: PastFlow
  atMs: number
  audience: readonly Recipient[]
  /** The sample gets the variants, and the others the winner some hours later. */
  test?: { percent: number; decideAfterMs: number; variants: (Variant & { openRate: number })[] }
}

type LeftBecause = 'hard_bounce' | 'complaint' | 'unsubscribed'

/** A broadcast as it was sent: a recipient has a message unless the contact left before its turn. */
export type SentBroadcast = {
  excluded: number
  finishedMs: number
  recipients: {
    contact: Recipient
    variant: number | null
    message?: PlannedMessage
    left?: LeftBecause
  }[]
  winner: number | null
  decidedMs: number | null
}

export type PlanOptions = {
  contacts: readonly Recipient[]
  flows: readonly PastFlow[]
  broadcasts?: readonly BroadcastPlan[]
  days: number
  messages: number
  rates: Rates
  endMs: number
}
export type EmailPlan = { messages: PlannedMessage[]; broadcasts: Map<BroadcastId, SentBroadcast> }

const usualOpenRate = 0.55
const msBetweenBroadcastEmails = 40

/**
 * Plans the emails of the last days in chronological order. Nobody gets an email before the contact was added, after a
 * hard bounce or a complaint, or a marketing email after unsubscribing.
 */
export function planEmails(options: PlanOptions): EmailPlan {
  const { flows, rates, endMs } = options
  const contacts = [...options.contacts].sort((a, b) => (a.sinceMs ?? 0) - (b.sinceMs ?? 0))
  const moments = momentsUntil(endMs - lastEmailBeforeMs, options.messages, options.days)
  const messages: PlannedMessage[] = []
  const broadcasts = new Map<BroadcastId, SentBroadcast>()
  const left = new Leavers()
  const add = (message: PlannedMessage) => {
    messages.push(message)
    left.note(message)
  }
  const steps: Step[] = []
  const schedule = (step: Step) => steps.push(step) && steps.sort((a, b) => a.atMs - b.atMs)
  for (const plan of options.broadcasts ?? [])
    schedule({
      atMs: plan.atMs,
      run: () => broadcasts.set(plan.id, planBroadcast(plan, { left, rates, add, schedule })),
    })
  let existing = 0
  for (const [n, atMs] of moments.entries()) {
    while (steps.length > 0 && steps[0]!.atMs <= atMs) steps.shift()!.run()
    while (existing < contacts.length && (contacts[existing]!.sinceMs ?? 0) <= atMs) existing++
    const id = derivedId('msg', atMs, `message ${n}`)
    // A few flows send most of the emails, as in practice.
    const flow = flows[Math.floor(flows.length * chanceOf(id, 'flow') ** 3)]!
    const start = Math.floor(existing * chanceOf(id, 'contact'))
    const contact = left.firstReachable(contacts, { start, existing, flow, atMs })
    if (!contact) continue
    const bounce = bounceOf(id, rates)
    add({ id, flow, contact, atMs, bounce, ...flow.messageOf(n), openRate: usualOpenRate, broadcastId: null })
  }
  return { messages: messages.sort((a, b) => a.atMs - b.atMs), broadcasts }
}

type Step = { atMs: number; run: () => void }
type Sending = {
  left: Leavers
  rates: Rates
  add: (message: PlannedMessage) => void
  /** Plans something later, when the emails until then are planned. */
  schedule: (step: Step) => void
}

function planBroadcast(plan: BroadcastPlan, { left, rates, add, schedule }: Sending): SentBroadcast {
  const { id, flow, atMs, audience, test } = plan
  const known = audience.filter(({ sinceMs = 0 }) => sinceMs <= atMs)
  const recipients = known
    .filter((contact) => !left.reasonOf(contact, flow, atMs))
    .map((contact) => ({ contact, rank: chanceOf(contact.id, id) }))
    .sort((a, b) => a.rank - b.rank)
  const excluded = known.length - recipients.length
  const send = (contact: Recipient, n: number, startMs: number, variant: number | null) => {
    const sentMs = startMs + n * msBetweenBroadcastEmails
    const reason = left.reasonOf(contact, flow, sentMs)
    if (reason) return { contact, variant, left: reason }
    const { subject, openRate } = test?.variants[variant ?? 0] ?? { subject: null, openRate: usualOpenRate }
    const messageId = derivedId('msg', sentMs, id, contact.id)
    const content = flow.messageOf(n)
    const message: PlannedMessage = {
      ...{ id: messageId, flow, contact, atMs: sentMs, bounce: bounceOf(messageId, rates), ...content, openRate },
      subject: subject?.replace(/\{\{ contact\.first_name[^}]*\}\}/, contact.firstName ?? 'there') ?? content.subject,
      broadcastId: id,
    }
    add(message)
    return { contact, variant, message }
  }
  const endOf = (startMs: number, count: number) => startMs + count * msBetweenBroadcastEmails
  if (!test) {
    const sent = recipients.map(({ contact }, n) => send(contact, n, atMs, null))
    return { excluded, recipients: sent, winner: null, decidedMs: null, finishedMs: endOf(atMs, sent.length) }
  }
  const sampleSize = Math.floor((recipients.length * test.percent) / 100)
  const sample = recipients
    .slice(0, sampleSize)
    .map(({ contact }, n) => send(contact, n, atMs, n % test.variants.length))
  const opens = test.variants.map(
    (_, variant) => sample.filter((each) => each.variant === variant && each.message && opensOf(each.message)).length,
  )
  const winner = opens.indexOf(Math.max(...opens))
  const decidedMs = endOf(atMs, sampleSize) + test.decideAfterMs
  const others = recipients.slice(sampleSize)
  const sent: SentBroadcast = {
    ...{ excluded, recipients: sample, winner, decidedMs },
    finishedMs: endOf(decidedMs, others.length),
  }
  schedule({
    atMs: decidedMs,
    run: () => {
      for (const [n, { contact }] of others.entries())
        sent.recipients.push({ ...send(contact, n, decidedMs, winner), variant: null })
    },
  })
  return sent
}

function bounceOf(id: MessageId, { softBounces, hardBounces }: Rates): 'soft' | 'hard' | null {
  const chance = chanceOf(id, 'bounce')
  return chance < hardBounces ? 'hard' : chance < hardBounces + softBounces ? 'soft' : null
}

/** Contacts that no longer get email, or marketing email. */
class Leavers {
  readonly #suppressed = new Map<ContactId, { atMs: number; by: 'hard_bounce' | 'complaint' }>()
  readonly #unsubscribed = new Map<ContactId, number>()

  note(message: PlannedMessage): void {
    const { suppressedMs, unsubscribedMs } = reactionTo(message)
    const by = message.bounce === 'hard' ? 'hard_bounce' : 'complaint'
    if (suppressedMs !== undefined) this.#suppressed.set(message.contact.id, { atMs: suppressedMs, by })
    if (unsubscribedMs !== undefined) this.#unsubscribed.set(message.contact.id, unsubscribedMs)
  }

  reasonOf({ id }: Recipient, { kind }: PastFlow, atMs: number): LeftBecause | undefined {
    const suppressed = this.#suppressed.get(id)
    if (suppressed && suppressed.atMs <= atMs) return suppressed.by
    const hasLeft = (this.#unsubscribed.get(id) ?? Number.POSITIVE_INFINITY) <= atMs
    return kind === 'marketing' && hasLeft ? 'unsubscribed' : undefined
  }

  firstReachable(
    contacts: readonly Recipient[],
    { start, existing, flow, atMs }: { start: number; existing: number; flow: PastFlow; atMs: number },
  ): Recipient | undefined {
    for (let step = 0; step < existing; step++) {
      const contact = contacts[(start + step) % existing]!
      if (!this.reasonOf(contact, flow, atMs)) return contact
    }
    return undefined
  }
}

/** Sending times over the last days, in their order: more by day than by night, fewer at weekends, and growing. */
function momentsUntil(endMs: number, count: number, days: number): number[] {
  const weights = Array.from({ length: days }, (_, day) => {
    const weekday = new Date(endMs - (days - 1 - day) * dayMs).getUTCDay()
    const weekend = weekday === 0 || weekday === 6
    return (weekend ? 0.45 : 1) * (0.7 + (0.6 * day) / days) * (1 + 0.25 * Math.sin(day / 8))
  })
  const sum = weights.reduce((all, weight) => all + weight, 0)
  const moments = weights.flatMap((weight, day) => {
    const emails = Math.round((count * weight) / sum)
    const dayEndMs = endMs - (days - 1 - day) * dayMs
    return Array.from({ length: emails }, (_, i) => Math.floor(dayEndMs - dayMs * (1 - (i + 1) / emails) ** 1.3))
  })
  return moments.sort((a, b) => a - b)
}
