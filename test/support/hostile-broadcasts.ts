import { setTimeout as sleep } from 'node:timers/promises'
import { parseId } from '../../src/platform/values/ids.ts'
import { asMember, type HostileInput, status } from './hostile-calls.ts'
import { create } from './resources.ts'
import { askedMinutes, type Seeded } from './seeded.ts'
import { until } from './until.ts'
import type { BroadcastVictim as Victim } from './victim.ts'

const attributesCount = 95
const conditionsCount = 50
const heavyContacts = askedMinutes ? 60_000 : 1_000
const zonedContacts = askedMinutes ? 30_000 : 2_000
const groupMembers = askedMinutes ? 200_000 : 5_000
const parallel = 12
/** How many broadcasts the other tenant sends beside ordinary large ones. */
const honestRounds = askedMinutes ? 60 : 1
/** Checked in long runs only: elsewhere, the machine is shared with other tests. */
const broadcastMsMax = 5_000
const cancelMsMax = 1_000
const withinMs = 120_000

/** Broadcasts and bulk actions that once took all connections or places, while another tenant sends a small broadcast. */
export const hostileBroadcasts: HostileInput<Victim>[] = [
  {
    name: 'expensive audiences frozen at the same second',
    fire: async (victim, random) => {
      const world = await prepare(victim)
      const segment = await make(victim, '/segments', { name: `Cheap ${random.int(0, 1e9)}`, filter: oneContact })
      const at = new Date(Date.now() + 4_000).toISOString()
      const audience = { segment_ids: [segment.id] }
      const ids = await drafts(victim, world, parallel, { audience, schedule: { at } })
      await Promise.all(ids.map((id) => act(victim, id, 'start')))
      const changed = await victim.attacker.manage('PATCH', `/organization/segments/${segment.id}`, {
        filter: expensive(random),
      })
      await until('the planned time', () => Date.now() > Date.parse(at) + 500)
      const seen = await bystanderSends(victim)
      return [changed.status, ...seen, ...(await endAll(victim, ids))]
    },
  },
  {
    name: 'starts that never match, of an expensive audience',
    fire: async (victim, random, scale) => {
      const world = await prepare(victim)
      const segments = await expensiveSegments(victim, random, Math.ceil(3 * scale))
      const ids = await drafts(victim, world, parallel / 2, { audience: { segment_ids: segments } })
      const starts = Promise.all(ids.map((id) => act(victim, id, 'start', { expected_recipients: 999_999 })))
      const seen = await bystanderSends(victim)
      return [...(await starts), ...seen]
    },
  },
  {
    name: 'one audience that takes minutes',
    fire: async (victim, random) => {
      const world = await prepare(victim)
      const audience = {
        // Somebody receives it, so it can be started.
        group_ids: [world.zoned],
        segment_ids: await expensiveSegments(victim, random, 2),
        exclude_segment_ids: await expensiveSegments(victim, random, 1),
      }
      const ids = await drafts(victim, world, 1, { audience })
      const started = await act(victim, ids[0]!, 'start')
      const seen = await bystanderSends(victim)
      return [started, ...seen, ...(await endAll(victim, ids))]
    },
  },
  {
    name: 'a part for each time zone, and a slow mail server',
    fire: async (victim) => {
      const world = await prepare(victim)
      await using _slow = victim.slowRelay(700)
      const at = new Date(Date.now() + 60_000).toISOString().slice(0, 16)
      const ids = await drafts(victim, world, 1, {
        audience: { group_ids: [world.zoned] },
        schedule: { at, time_zone: 'Etc/GMT+12', per_recipient: true },
        missed_after_seconds: 86_400,
      })
      const started = await act(victim, ids[0]!, 'start')
      await sleep(1_000)
      const seen = await bystanderSends(victim)
      return [started, ...seen, ...(await endAll(victim, ids))]
    },
  },
  {
    name: 'twenty broadcasts at once, and a slow mail server',
    fire: async (victim) => {
      const world = await prepare(victim)
      await using _slow = victim.slowRelay(500)
      const ids = await drafts(victim, world, 20, { audience: { group_ids: [world.zoned] } })
      const started = await Promise.all(ids.map((id) => act(victim, id, 'start')))
      await sleep(1_000)
      const seen = await bystanderSends(victim)
      return [...started, ...seen, ...(await endAll(victim, ids))]
    },
  },
  {
    name: 'ordinary broadcasts to a large group at the same time',
    fire: async (victim) => {
      const world = await prepare(victim)
      const ids = await drafts(victim, world, parallel, { audience: { group_ids: [world.everybody] } })
      const started = await Promise.all(ids.map((id) => act(victim, id, 'start')))
      for (let at = 0; at < honestRounds; at++) await bystanderSends(victim)
      return [...started, ...(await endAll(victim, ids))]
    },
  },
  {
    name: 'bulk actions with an expensive filter',
    fire: async (victim, random) => {
      await prepare(victim)
      const actions = await Promise.all(
        [1, 2, 3].map(() =>
          victim.attacker.manage('POST', '/organization/bulk-actions', {
            action: 'unsubscribe',
            matching: { filter: expensive(random) },
          }),
        ),
      )
      // Not one of the readers, who get the broadcasts of other inputs.
      const email = `leaves${random.int(0, 1e9)}@bystander.example`
      const contact = await victim.bystander.manage('POST', '/organization/contacts', { email })
      const action = await victim.bystander.manage('POST', '/organization/bulk-actions', {
        action: 'unsubscribe',
        contact_ids: [contact.body.data.id],
      })
      const path = `/organization/bulk-actions/${action.body.data.id}`
      const seconds = await timed(victim, 'bulk action of the other tenant', broadcastMsMax, () =>
        until('the action', async () => (await victim.bystander.manage('GET', path)).body.data.finished_at, withinMs),
      )
      const cancelled: number[] = []
      for (const { body } of actions) {
        const cancel = `/api/v1/organization/bulk-actions/${body.data.id}/cancel`
        const answer = () => status(victim, { path: cancel, headers: asMember(victim) })
        await timed(victim, 'cancelling a bulk action', cancelMsMax, async () => cancelled.push(await answer()))
      }
      return [action.status, ...cancelled, ...seconds]
    },
  },
  {
    name: 'documents and metrics without authentication',
    fire: async (victim, _random, scale) => {
      const paths = ['/openapi.json', '/metrics', '/docs', '/docs/guides', '/llms.txt']
      const answers: number[] = []
      let left = Math.floor(1_000 * scale)
      const client = async () => {
        while (left-- > 0) answers.push(await status(victim, { method: 'GET', path: paths[left % paths.length]! }))
      }
      await Promise.all(Array.from({ length: 50 }, client))
      return answers
    },
  },
]

type World = { flow: string; zoned: string; everybody: string }

const worlds = new WeakMap<Victim, Promise<World>>()

/** Contacts with many attributes, and others in all time zones, created once. */
function prepare(victim: Victim): Promise<World> {
  const known = worlds.get(victim) ?? createWorld(victim)
  worlds.set(victim, known)
  return known
}

async function createWorld(victim: Victim): Promise<World> {
  const { organizationId } = victim.attacker
  const { db } = victim.database
  const zones = Intl.supportedValuesOf('timeZone')
  const zoned = (await make(victim, '/groups', { name: 'Everywhere' })).id
  const everybody = (await make(victim, '/groups', { name: 'Everybody' })).id
  await db.begin(
    async (tx) => {
      await tx`
        insert into contacts (organization_id, id, email, email_key, subscription, attributes)
        select ${organizationId}, gen_random_uuid(), 'h' || n || '@heavy.example', 'h' || n || '@heavy.example', 'subscribed', heavy.attributes
        from generate_series(1, ${heavyContacts}) n
        cross join (
          select jsonb_object_agg('list' || a, jsonb_build_array(repeat('x', 100), a)) as attributes
          from generate_series(1, ${attributesCount}) a) as heavy`
      await tx`
        insert into contacts (organization_id, id, email, email_key, subscription, attributes)
        select ${organizationId}, gen_random_uuid(), 'z' || n || '@zoned.example', 'z' || n || '@zoned.example', 'subscribed',
          jsonb_build_object('time_zone', (${zones}::text[])[1 + n % ${zones.length}])
        from generate_series(1, ${zonedContacts}) n`
      await tx`
        insert into group_members (organization_id, group_id, contact_id)
        select organization_id, ${parseId('grp', zoned)}, id from contacts
        where organization_id = ${organizationId} and email_key like 'z%@zoned.example'`
      await tx`
        insert into contacts (organization_id, id, email, email_key, subscription)
        select ${organizationId}, gen_random_uuid(), 'm' || n || '@member.example', 'm' || n || '@member.example', 'subscribed'
        from generate_series(1, ${groupMembers}) n`
      await tx`
        insert into group_members (organization_id, group_id, contact_id)
        select organization_id, ${parseId('grp', everybody)}, id from contacts
        where organization_id = ${organizationId} and email_key like 'm%@member.example'`
    },
    { unlimited: true },
  )
  const flow = await make(victim, '/flows', { name: 'News', kind: 'marketing', subject: 'News', html: '<p>News</p>' })
  return { flow: flow.id, zoned, everybody }
}

const make = ({ attacker }: Victim, path: string, body: object): Promise<{ id: string }> => create(attacker, path, body)

const drafts = (victim: Victim, { flow }: World, count: number, more: object): Promise<string[]> =>
  Promise.all(
    Array.from({ length: count }, async (_, index) => {
      const { id } = await make(victim, '/broadcasts', { name: `News ${index}`, flow_id: flow, ...more })
      return id
    }),
  )

const oneContact = { type: 'text', field: 'email', operator: 'equals', value: 'h1@heavy.example' }

const expensive = (random: Seeded) => ({
  type: 'any',
  conditions: Array.from({ length: conditionsCount }, () => ({
    type: 'list',
    field: `attributes.list${random.int(1, attributesCount)}`,
    operator: 'contains',
    value: `none ${random.int(0, 1e9)}`,
  })),
})

async function expensiveSegments(victim: Victim, random: Seeded, count: number): Promise<string[]> {
  const ids: string[] = []
  for (let at = 0; at < count; at++)
    ids.push((await make(victim, '/segments', { name: `Slow ${random.int(0, 1e9)}`, filter: expensive(random) })).id)
  return ids
}

const act = (victim: Victim, id: string, action: string, body?: object): Promise<number> =>
  status(victim, {
    path: `/api/v1/organization/broadcasts/${id}/${action}`,
    headers: asMember(victim),
    body: JSON.stringify(body ?? {}),
  })

/** Cancels broadcasts. Those that have ended in the meantime answer 409. */
async function endAll(victim: Victim, ids: string[]): Promise<number[]> {
  const answers: number[] = []
  for (const id of ids)
    await timed(victim, 'cancelling a broadcast', cancelMsMax, async () =>
      answers.push(await act(victim, id, 'cancel')),
    )
  return answers
}

/** The other tenant sends a broadcast to five contacts. */
async function bystanderSends(victim: Victim): Promise<number[]> {
  const { manage } = victim.bystander
  const { id } = await create({ manage }, '/broadcasts', victim.bystander.broadcast)
  return timed(victim, 'broadcast of the other tenant', broadcastMsMax, async () => {
    const started = await manage('POST', `/organization/broadcasts/${id}/start`, { expected_recipients: 5 })
    await until(
      `the broadcast of the other tenant, whose start answered: ${started.text}`,
      async () => (await manage('GET', `/organization/broadcasts/${id}`)).body.data?.counts.sent === 5,
      withinMs,
    )
  })
}

/** Reports how long something took. In a long run it must not take longer than `msMax`. */
async function timed(victim: Victim, what: string, msMax: number, run: () => Promise<unknown>): Promise<number[]> {
  const startedAt = performance.now()
  await run()
  victim.note(what, Math.round(performance.now() - startedAt), msMax)
  return []
}
