import { existsSync, readdirSync } from 'node:fs'
import { parseId } from '../../src/platform/values/ids.ts'
import { query } from './embedded-child.ts'
import type { FaultWorld } from './fault-world.ts'

/** What was accepted, and its outcome. */
export type Accounts = {
  accepted: number
  opened: number
  sent: number
  mails: number
  events: number
  deliveries: number
  posts: number
  /** Sent or delivered more than once, which is allowed: delivery is at least once. */
  doubleMails: number
  doublePosts: number
  doubleOpens: number
  losses: string[]
}

/** Compares responses, messages, emails, events, counters, deliveries and webhook requests. */
export async function takeAccounts(world: FaultWorld): Promise<Accounts> {
  const { database, accepted, opened, relay, receivers } = world
  const read = (text: string) => query(database.started(), text)
  const messages = await read('select id, status from messages')
  const events = await read(
    `select id, event_name, message_id from events where event_name in ('emailSent', 'emailOpen')`,
  )
  const others = await read(
    `select count(*)::int as count from events where event_name not in ('emailSent', 'emailOpen')`,
  )
  const counted = await read(`
    select event_name, sum(total)::int as total from event_counters
    where grain = 'day' and flow_id = '00000000-0000-0000-0000-000000000000' group by 1`)
  const deliveries = await read('select id, event_id, webhook_id, status from deliveries')

  const stored = new Map(messages.map(({ id, status }) => [String(id), String(status)]))
  const mails = tally(
    relay.mails.map(({ raw }) => uuidOf('msg', /^Message-ID: <(msg_\w+)@/im.exec(raw.toString('latin1'))?.[1])),
  )
  const sentEvents = tally(
    events.filter((event) => event.event_name === 'emailSent').map((event) => String(event.message_id)),
  )
  const openEvents = tally(
    events.filter((event) => event.event_name === 'emailOpen').map((event) => String(event.message_id)),
  )
  const posts = tally(
    receivers.flatMap((receiver) => receiver.posts.map(({ headers }) => uuidOf('dlv', String(headers['webhook-id'])))),
  )
  const perEvent = tally(deliveries.map(({ event_id }) => String(event_id)))

  const losses: string[] = []
  const lose = (what: string, lost: unknown[]) => {
    if (lost.length > 0) losses.push(`${lost.length} ${what}, such as ${lost[0]}`)
  }
  const ids = [...accepted]
  lose(
    'accepted but not stored',
    ids.filter((id) => !stored.has(id)),
  )
  lose(
    'stored twice or without an answer',
    [...stored.keys()].filter((id) => !accepted.has(id)),
  )
  lose(
    'not sent',
    ids.filter((id) => stored.get(id) !== 'sent'),
  )
  lose(
    'sent but not at the relay',
    ids.filter((id) => !mails.has(id)),
  )
  lose(
    'at the relay but never accepted',
    [...mails.keys()].filter((id) => !accepted.has(id)),
  )
  lose(
    'sent without exactly one emailSent event',
    ids.filter((id) => sentEvents.get(id) !== 1),
  )
  lose(
    'opened without an emailOpen event',
    [...opened].filter((id) => !openEvents.has(id)),
  )
  for (const name of ['emailSent', 'emailOpen']) {
    const total = Number(counted.find((row) => row.event_name === name)?.total ?? 0)
    const recorded = events.filter((event) => event.event_name === name).length
    if (total !== recorded) losses.push(`${name}: ${recorded} events, but the counters say ${total}`)
  }
  if (others[0]?.count !== 0) losses.push(`${others[0]?.count} events of other kinds`)
  lose(
    'events without one delivery per endpoint',
    events.filter(({ id }) => perEvent.get(String(id)) !== receivers.length),
  )
  lose(
    'deliveries not delivered',
    deliveries.filter(({ status }) => status !== 'delivered').map(({ id, status }) => `${id} ${status}`),
  )
  lose(
    'deliveries that no endpoint got',
    deliveries.map(({ id }) => String(id)).filter((id) => !posts.has(id)),
  )
  if (existsSync(world.spool) && readdirSync(world.spool).length > 0) losses.push('hits left in the spool')

  return {
    accepted: accepted.size,
    opened: opened.size,
    sent: sentEvents.size,
    mails: relay.mails.length,
    events: events.length,
    deliveries: deliveries.length,
    posts: receivers.reduce((sum, receiver) => sum + receiver.posts.length, 0),
    doubleMails: doubles(mails),
    doublePosts: doubles(posts),
    doubleOpens: doubles(openEvents),
    losses,
  }
}

export const describeAccounts = (accounts: Accounts) =>
  `${accounts.accepted} accepted, ${accounts.sent} sent as ${accounts.mails} mails (${accounts.doubleMails} twice), ` +
  `${accounts.opened} opens answered (${accounts.doubleOpens} recorded twice), ${accounts.events} events, ` +
  `${accounts.deliveries} deliveries in ${accounts.posts} posts (${accounts.doublePosts} twice or retried)`

const uuidOf = (kind: 'msg' | 'dlv', text = '') => String(parseId(kind, text) ?? text)

function tally(names: string[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1)
  return counts
}

const doubles = (counts: Map<string, number>) => [...counts.values()].filter((count) => count > 1).length
