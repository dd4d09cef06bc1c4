import type { Reader } from '../../platform/db/db.ts'
import type { IdRange } from '../../platform/db/id-range.ts'
import type { EventName } from '../../platform/values/event-types.ts'
import {
  type CountedBroadcast,
  countByVariant,
  countLinks,
  countReactions,
  type LinkClicks,
  type ReactionRow,
  type StatusRow,
} from './reactions.sql.ts'

/** The hours after the start for which opens and clicks are counted one by one. */
export const hoursCounted = 48
/** Only an email with other links for every recipient has more. */
const linksMax = 10_000

const noTotals = {
  opened: 0,
  clicked: 0,
  unsubscribed: 0,
  complained: 0,
  hardBounced: 0,
  softBounced: 0,
  /** Delivered, and opened or clicked. */
  engaged: 0,
}
const noVariant = { recipients: 0, sent: 0, bounced: 0, opened: 0, clicked: 0, unsubscribed: 0, complained: 0 }
export type VariantReactions = typeof noVariant

/** Recipients that reacted, each counted once and without machines. */
export type Reactions = {
  totals: typeof noTotals
  /** Those in the sample of a test, by variant. */
  variants: VariantReactions[]
  /** First opens and first clicks by hour after the start. */
  hours: { opened: number[]; clicked: number[] }
}

export const noReactions = ({ variants }: Pick<CountedBroadcast, 'variants'>): Reactions => ({
  totals: { ...noTotals },
  variants: variants.map(() => ({ ...noVariant })),
  hours: { opened: Array(hoursCounted).fill(0), clicked: Array(hoursCounted).fill(0) },
})

const fields: Partial<Record<EventName, Exclude<keyof Reactions['totals'], 'engaged'>>> = {
  emailOpen: 'opened',
  emailClick: 'clicked',
  contactUnsubscribe: 'unsubscribed',
  emailComplaint: 'complained',
  emailHardBounce: 'hardBounced',
  emailSoftBounce: 'softBounced',
}
const names = Object.keys(fields) as EventName[]

/** Adds the reactions in a range of the ledger. Nothing is added if a statement fails, so it can be repeated. */
export async function addReactions(db: Reader, broadcast: CountedBroadcast, range: IdRange, total: Reactions) {
  const sample = broadcast.variants.length > 0 ? await countByVariant(db, broadcast, range) : []
  const reactions = await countReactions(db, broadcast, range, names)
  for (const row of sample) addToSample(total.variants[row.variant]!, row)
  for (const row of reactions) addReaction(total, row)
}

function addToSample(variant: VariantReactions, { status, count }: StatusRow): void {
  variant.recipients += count
  if (status === 'sent' || status === 'bounced') variant.sent += count
  if (status === 'bounced') variant.bounced += count
}

function addReaction(
  { totals, variants, hours }: Reactions,
  { variant, eventName, hour, count, engaged }: ReactionRow,
) {
  const field = fields[eventName]!
  totals[field] += count
  totals.engaged += engaged
  const counts: Record<string, number> | undefined = variant === null ? undefined : variants[variant]
  if (counts?.[field] !== undefined) counts[field] += count
  if (hour !== null && hour < hoursCounted) hours[field as keyof Reactions['hours']][hour]! += count
}

/** By URL. */
export type Links = Map<string, LinkClicks>

/** Like `addReactions`, for the human clicks on links. */
export async function addLinks(db: Reader, broadcast: CountedBroadcast, range: IdRange, total: Links) {
  for (const { url, clicks, contacts } of await countLinks(db, broadcast, range)) {
    const known = total.get(url)
    if (known) Object.assign(known, { clicks: known.clicks + clicks, contacts: known.contacts + contacts })
    else if (total.size < linksMax) total.set(url, { url, clicks, contacts })
  }
}

/** The most clicked first. */
export const topLinks = (links: Links, limit: number): LinkClicks[] =>
  [...links.values()].sort((a, b) => b.clicks - a.clicks || (a.url < b.url ? -1 : 1)).slice(0, limit)
