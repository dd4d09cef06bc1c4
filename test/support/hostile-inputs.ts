import { request } from 'node:http'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { newId } from '../../src/values/ids.ts'
import { deliver } from './bounce-sender.ts'
import type { Seeded } from './seeded.ts'
import { until } from './until.ts'
import type { Victim } from './victim.ts'

/** Answers that the input got: HTTP statuses, or 0 where the connection was closed without an answer. */
export type HostileInput = {
  name: string
  fire(victim: Victim, random: Seeded, scale: number): Promise<number[]>
  /** Not in `npm test` yet: the service does not withstand it. */
  pending?: true
}

const requestTimeoutMs = 120_000

type Sent = { method?: string; path: string; headers?: Record<string, string>; body?: string | Buffer }

/** The status, or 0 if there was no answer: a server may close the connection on a body that is too large. */
function status({ url }: Victim, { method = 'POST', path, headers = {}, body }: Sent): Promise<number> {
  return new Promise((resolve) => {
    const sent = request(
      `${url}${path}`,
      { method, headers: { 'content-type': 'application/json', ...headers } },
      (response) => {
        response.resume().once('close', () => resolve(response.statusCode ?? 0))
      },
    )
    sent.setTimeout(requestTimeoutMs, () => sent.destroy())
    sent.once('error', () => resolve(0)).end(body)
  })
}

const asMember = ({ attacker }: Victim) => ({ authorization: `Bearer ${attacker.session}` })
const asProgram = ({ attacker }: Victim) => ({ 'x-api-token': attacker.apiKey })

const manage = (victim: Victim, path: string, body: unknown) =>
  status(victim, { path: `/api/v1/organization${path}`, headers: asMember(victim), body: JSON.stringify(body) })

const preview = (victim: Victim, flow: object) =>
  manage(victim, '/flows/preview', { subject: 'x', context: {}, ...flow })

async function newGroup(victim: Victim, random: Seeded): Promise<string> {
  const group = await victim.attacker.manage('POST', '/organization/groups', { name: `Group ${random.int(0, 1e9)}` })
  return group.body.data.id
}

async function newFlow(victim: Victim, flow: object): Promise<string | undefined> {
  const created = await victim.attacker.manage('POST', '/organization/flows', {
    name: 'Hostile',
    kind: 'transactional',
    subject: 'x',
    html: '<p>x</p>',
    ...flow,
  })
  return created.body?.data?.id
}

const send = (victim: Victim, flowId: string, more: object = {}) =>
  status(victim, {
    path: '/public/api/v1/flow/send-email-through-flow',
    headers: asProgram(victim),
    body: JSON.stringify({ flow_id: flowId, contact_email: 'ada@example.com', context: {}, ...more }),
  })

/** Uploads a file and waits for its import to end, however it ends. */
async function importCsv(victim: Victim, body: string | Buffer): Promise<number[]> {
  const uploaded = await status(victim, {
    path: '/api/v1/organization/contacts/import',
    headers: { ...asMember(victim), 'content-type': 'text/csv' },
    body,
  })
  await until(
    'imports to end',
    async () => {
      const [row] = await victim.database.db<{ open: number }>`
        select count(*) as open from jobs where kind = 'contacts.import'`
      victim.service.pid()
      return row!.open === 0
    },
    300_000,
  )
  return [uploaded]
}

const cell = (random: Seeded) => random.pick([',', ',,', '"",', ' ,', '\t,', ';', "',"])

const bounceAddress = (victim: Victim) =>
  `${victim.tokens.sign('bounce', { organizationId: victim.attacker.organizationId, messageId: newId('msg') })}@${victim.bounceDomain}`

async function bounce(victim: Victim, mail: (to: string) => string): Promise<number[]> {
  const to = bounceAddress(victim)
  const outcome = await deliver(victim.bouncePort, 'mailer-daemon@relay.example', to, mail(to))
  return [outcome.kind === 'accepted' ? 250 : 0]
}

const repeat = (count: number, text: (index: number) => string) =>
  Array.from({ length: count }, (_, i) => text(i)).join('')
const addresses = (count: number, seed: number) => repeat(count, (i) => `${i ? ', ' : ''}user${seed}x${i}@example.com`)
const notice = (to: string, headers: string, body: string) =>
  `From: MAILER-DAEMON@relay.example\r\nTo: ${to}\r\nSubject: Undelivered Mail Returned to Sender\r\n${headers}\r\n${body}\r\n`

/** Inputs of ordinary size that once stopped the service, each in seeded variants. `scale` 1 is the size of the report. */
export const hostileInputs: HostileInput[] = [
  {
    name: 'CSV of delimiters',
    pending: true,
    fire: (victim, random, scale) => {
      const piece = cell(random)
      return importCsv(victim, `email${piece.repeat(Math.ceil((40e6 * scale) / piece.length))}\n`)
    },
  },
  {
    name: 'CSV rows of delimiters',
    fire: (victim, random, scale) => {
      const row = `,${cell(random).repeat(random.int(1_000, 20_000))}\n`
      return importCsv(victim, `email,first_name\n${row.repeat(Math.ceil((20e6 * scale) / row.length))}`)
    },
  },
  {
    name: 'CSV with an open quote',
    fire: (victim, random, scale) =>
      importCsv(
        victim,
        `email\n"${random.pick(['a', '\n', ',', 'a,\n'])}`.padEnd(20e6 * scale, random.pick(['x', '\n', ','])),
      ),
  },
  {
    name: 'one contact many times with new attributes',
    pending: true,
    fire: async (victim, random, scale) => {
      const group = await newGroup(victim, random)
      const keys = random.int(50, 100)
      const members = Array.from({ length: 1_000 * scale }, (_, i) => ({
        email: random.pick(['ada@example.com', 'Ada@Example.com', ' ada@example.com']),
        attributes: Object.fromEntries(Array.from({ length: keys }, (_, k) => [`k${i}_${k}`, 1])),
      }))
      const body = JSON.stringify({ group_id: group, members })
      const path = '/public/api/v1/contacts/add-group-members'
      return [await status(victim, { path, headers: asProgram(victim), body })]
    },
  },
  {
    name: 'attributes added request by request',
    fire: async (victim, random, scale) => {
      const group = await newGroup(victim, random)
      const answers: number[] = []
      for (let turn = 0; turn < 6 * scale; turn++) {
        const members = Array.from({ length: 100 }, (_, i) => ({
          email: `m${i}@example.com`,
          attributes: Object.fromEntries(Array.from({ length: 100 }, (_, k) => [`${turn}k${k}`, 'x'.repeat(100)])),
        }))
        const body = JSON.stringify({ group_id: group, members })
        const path = '/public/api/v1/contacts/add-group-members'
        answers.push(await status(victim, { path, headers: asProgram(victim), body }))
      }
      const list = { method: 'GET', path: '/api/v1/organization/contacts?limit=100', headers: asMember(victim) }
      answers.push(await status(victim, list))
      return answers
    },
  },
  {
    name: 'bounce with many failed recipients',
    fire: (victim, random, scale) =>
      bounce(victim, (to) =>
        notice(
          to,
          `X-Failed-Recipients: ${addresses(1_500 * scale, random.int(0, 999))}\r\n`,
          '550 5.1.1 No such user',
        ),
      ),
  },
  {
    name: 'bounce notice naming many recipients',
    fire: (victim, random, scale) =>
      bounce(victim, (to) =>
        notice(
          to,
          'Content-Type: text/plain\r\n',
          repeat(
            1_000 * scale,
            (i) =>
              `<user${i}@example.com>: host mx.example.com said: ${random.pick(['550 5.1.1 unknown', '452 4.2.2 full', 'over quota'])}\r\n`,
          ),
        ),
      ),
  },
  {
    name: 'bounce with a long encoded header',
    fire: (victim, random, scale) =>
      bounce(victim, (to) =>
        notice(
          to,
          `${random.pick(['Return-Path', 'Subject', 'X-Failed-Recipients'])}: =?utf-8?q?${random.pick(['_', '=20', ' _']).repeat(40_000 * scale)}?=<\r\n`,
          'x',
        ),
      ),
  },
  {
    name: 'bounce of nested parts',
    fire: (victim, random, scale) =>
      bounce(victim, (to) => {
        const depth = random.int(50, 500) * scale
        return notice(
          to,
          'MIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b0\r\n',
          repeat(depth, (i) => `--b${i}\r\nContent-Type: multipart/mixed; boundary=b${i + 1}\r\n\r\n`),
        )
      }),
  },
  {
    name: 'MJML with the placeholder word',
    pending: true,
    fire: async (victim, random, scale) => [
      await preview(victim, {
        html_format: 'mjml',
        html: `<mjml><mj-body>liquidtag${random.pick(['q', 'Q', 'qq'])}${'q'.repeat(100_000 * scale)}</mj-body></mjml>`,
      }),
    ],
  },
  {
    name: 'MJML with many problems after many lines',
    fire: async (victim, random, scale) => {
      const lines = '\n'.repeat(100_000 * scale)
      const problem = random.pick([
        '<mj-include ',
        '{{a}}',
        '<mj-text wrong="1"></mj-text>',
        '<mj-section><mj-wrong/></mj-section>',
      ])
      return [
        await preview(victim, {
          html_format: 'mjml',
          html: `<mjml><mj-body>${lines}${problem.repeat(1_000 * scale)}</mj-body></mjml>`,
        }),
      ]
    },
  },
  {
    name: 'MJML that compiles slowly, several at once',
    fire: (victim, random, scale) => {
      const section = '<mj-section><mj-column><mj-text>x</mj-text></mj-column></mj-section>'
      const html = `<mjml><mj-body>${section.repeat(random.int(1_000, 3_000) * scale)}</mj-body></mjml>`
      return Promise.all(Array.from({ length: 4 }, () => preview(victim, { html_format: 'mjml', html })))
    },
  },
  {
    name: 'template with many guards and variables',
    pending: true,
    fire: async (victim, random, scale) => {
      // Names are short, since a tag has 4,000 characters at most.
      const names = (tag: number, count: number, suffix: string) =>
        Array.from(
          { length: count },
          (_, i) => `${String.fromCharCode(97 + (tag % 26))}${i.toString(36)}${suffix}`,
        ).join(' or ')
      const guard = (tag: number) => `{% if ${names(tag, 250, '==nil')} %}{% elsif x %}x{% endif %}`
      const uses = (tag: number) => `{% if ${names(tag, 500, '')} %}x{% endif %}`
      const count = Math.ceil(60 * scale)
      const html = random.chance(0.5)
        ? repeat(count, guard) + repeat(count, uses)
        : repeat(count, (i) => guard(i) + uses(i))
      return [await preview(victim, { html })]
    },
  },
  {
    name: 'template with generated links and a missing variable',
    fire: async (victim, random, scale) => [
      await preview(victim, {
        html: `{{missing}}${'x'.repeat(random.int(100_000, 360_000) * scale)}{% for i in (1..3000) %}<a href="https://example.com/{{i}}">x</a>{% endfor %}`,
      }),
    ],
  },
  {
    name: 'template of many tags, previewed again and again',
    fire: async (victim, random, scale) => {
      const answers: number[] = []
      for (let turn = 0; turn < 5 * scale; turn++)
        answers.push(await preview(victim, { html: repeat(5_000, (i) => `{{a${i % 500}}}`) + random.int(0, 1e9) }))
      return answers
    },
  },
  {
    name: 'many large flows, a send through each',
    pending: true,
    fire: async (victim, random, scale) => {
      const answers: number[] = []
      for (let turn = 0; turn < 12 * scale; turn++) {
        const html = repeat(4_500, (i) => `{{ v${i % 900} | default: "${'x'.repeat(60)}" }}`)
        const flowId = await newFlow(victim, { html: `${random.int(0, 1e9)}${html}` })
        if (flowId) answers.push(await send(victim, flowId))
      }
      return answers
    },
  },
  {
    name: 'subject that renders slowly',
    pending: true,
    fire: async (victim, random, scale) => {
      const format = random.pick(['%c%c%c%c', '%A %B %c', '%Y-%m-%d'])
      const subject = `{% for i in (1..1000) %}{% assign q = ${random.int(1, 9)} | date: "${format}", "Europe/Berlin" %}{% endfor %}x`
      const flowId = await newFlow(victim, { subject })
      return flowId ? Promise.all(Array.from({ length: 30 * scale }, () => send(victim, flowId))) : [422]
    },
  },
  {
    name: 'body that renders slowly, in many accepted mails',
    fire: async (victim, random, scale) => {
      const loop = random.pick([
        '{% for i in (1..5000) %}{% assign q = i | date: "%c%c", "Europe/Berlin" %}{% endfor %}',
        '{% for i in (1..300) %}{% for j in (1..300) %}{{ i | times: j }}{% endfor %}{% endfor %}',
        '{% assign s = "x" %}{% for i in (1..2000) %}{% assign s = s | append: "y" | upcase | reverse %}{% endfor %}{{ s }}',
      ])
      const flowId = await newFlow(victim, { html: `<p>${loop}</p>` })
      if (!flowId) return [422]
      const answers = await Promise.all(
        Array.from({ length: 40 * scale }, (_, i) => send(victim, flowId, { contact_email: `s${i}@example.com` })),
      )
      await until(
        'the mails to be settled',
        async () => {
          const [row] = await victim.database.db<{ open: number }>`
            select count(*) as open from messages where status = 'queued' and organization_id = ${victim.attacker.organizationId}`
          victim.service.pid()
          return row!.open === 0
        },
        120_000,
      )
      return answers
    },
  },
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
      const token = victim.tokens.sign('open', ids)
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
    name: 'bodies that never end',
    fire: async (victim, random, scale) => {
      const { hostname, port } = new URL(victim.url)
      const sockets = Array.from({ length: 50 * scale }, () => {
        const socket = connect(Number(port), hostname)
        socket.on('error', () => {})
        socket.write(
          `POST /api/v1/auth/login HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n\r\n${'{'.repeat(random.int(1, 20))}`,
        )
        return socket
      })
      await sleep(1_000)
      for (const socket of sockets) socket.destroy()
      return []
    },
  },
]
