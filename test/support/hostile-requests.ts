import { connect } from 'node:net'
import { newId } from '../../src/platform/values/ids.ts'
import { asMember, type HostileInput, manage, newFlow, send, status } from './hostile-calls.ts'
import { until } from './until.ts'

/**
 * Connections of one client that remain after the service had time to detect them. Without a limit they stay open for
 * half a minute or longer.
 */
const slowConnectionsMax = 50
const slowConnectionsMsMax = 25_000

export const hostileRequests: HostileInput[] = [
  {
    name: 'arrays full of invalid items',
    fire: (victim, random, scale) => {
      const item = random.pick(['0', 'null', '[]', '""'])
      const items = `[${`${item},`.repeat(Math.floor((1_000_000 * scale) / (item.length + 1)))}${item}]`
      const bodies: [string, string][] = [
        ['/api-keys', `{"name":"x","scopes":${items}}`],
        ['/webhooks', `{"name":"x","url":"https://example.com","event_types":${items}}`],
        ['/groups/grp_00000000000000000000000000/members', `{"contact_ids":${items}}`],
      ]
      const sent = bodies.map(([path, body]) =>
        status(victim, { path: `/api/v1/organization${path}`, headers: asMember(victim), body }),
      )
      return Promise.all(sent)
    },
  },
  {
    name: 'many searches at once',
    fire: (victim, random, scale) =>
      Promise.all(
        Array.from({ length: 20 * scale }, () =>
          status(victim, {
            method: 'GET',
            path: `/api/v1/organization/${random.pick(['contacts', 'messages', 'suppressions'])}?query=${encodeURIComponent(random.pick(['%', 'zq', '@example.co', 'a b c d e f']))}`,
            headers: asMember(victim),
          }),
        ),
      ),
  },
  {
    name: 'webhook tests against an endpoint that hangs',
    fire: async (victim, random, scale) => {
      const webhook = { name: `Hanging ${random.int(0, 1e9)}`, url: victim.hangingUrl, all_events: true }
      const created = await victim.attacker.manage('POST', '/organization/webhooks', webhook)
      const id = created.body?.data?.id
      if (!id) return [created.status]
      return Promise.all(
        Array.from({ length: 100 * scale }, () => manage(victim, `/webhooks/${id}/test`, { event_name: 'emailOpen' })),
      )
    },
  },
  {
    name: 'one pixel again and again',
    fire: (victim, random, scale) => {
      const { organizationId } = victim.attacker
      const ids = { organizationId, messageId: newId('msg'), contactId: newId('con'), flowId: newId('flw') }
      const token = victim.tokens.sign('email', ids)
      const agent = random.pick(['Mozilla/5.0', '', 'x'.repeat(4_000)])
      return Promise.all(
        Array.from({ length: 200 * scale }, () =>
          status(victim, { method: 'GET', path: `/t/o/${token}`, headers: { 'user-agent': agent } }),
        ),
      )
    },
  },
  {
    name: 'deep JSON without a credential',
    fire: (victim, random, scale) => {
      const body = random
        .pick(['[', '{"a":', '[[', '"\\u0000'])
        .repeat(250_000)
        .slice(0, 1_000_000 * Math.min(1, scale))
      return Promise.all([1, 2, 3].map(() => status(victim, { path: '/api/v1/auth/login', body })))
    },
  },
  {
    name: 'the largest static file, many at once',
    fire: (victim, _random, scale) =>
      Promise.all(
        Array.from({ length: 20 * scale }, () => status(victim, { method: 'GET', path: '/docs/js/scalar.js' })),
      ),
  },
  {
    name: 'a mail of many lines in the inbox',
    fire: async (victim, random, scale) => {
      const flowId = await newFlow(victim, { html: `<p>${'x\n'.repeat(100_000 * scale)}${random.int(0, 1e9)}</p>` })
      if (!flowId) return [422]
      const answer = await send(victim, flowId)
      const list = { method: 'GET', path: '/api/v1/organization/inbox', headers: asMember(victim) }
      const inbox = await victim.attacker.manage('GET', '/organization/inbox?limit=100')
      const ids: string[] = (inbox.body?.data ?? []).map(
        (mail: { id?: string; message_id?: string }) => mail.id ?? mail.message_id,
      )
      const opened = await Promise.all(
        ids.slice(0, 5).map((id) => status(victim, { ...list, path: `${list.path}/${id}` })),
      )
      return [answer, ...opened]
    },
  },
  {
    name: 'bodies that never end, one byte per second',
    fire: async (victim, random, scale) => {
      const { hostname, port } = new URL(victim.url)
      const path = random.pick(['/api/v1/auth/login', '/api/v1/organization/contacts/import', '/nothing'])
      const sockets = Array.from({ length: 1_000 * scale }, () => {
        const socket = connect(Number(port), hostname)
        socket.on('error', () => {}).resume()
        socket.write(
          `POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n\r\n`,
        )
        return socket
      })
      const drip = setInterval(() => {
        for (const socket of sockets) if (!socket.destroyed) socket.write('{')
      }, 1_000)
      try {
        await until(
          'the service to close all but a few slow connections',
          () => sockets.filter(({ destroyed }) => !destroyed).length <= slowConnectionsMax,
          slowConnectionsMsMax,
        )
      } finally {
        clearInterval(drip)
        for (const socket of sockets) socket.destroy()
      }
      return []
    },
  },
]
