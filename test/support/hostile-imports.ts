import { asMember, asProgram, type HostileInput, status } from './hostile-calls.ts'
import type { Seeded } from './seeded.ts'
import { until } from './until.ts'
import type { Victim } from './victim.ts'

async function newGroup(victim: Victim, random: Seeded): Promise<string> {
  const group = await victim.attacker.manage('POST', '/organization/groups', { name: `Group ${random.int(0, 1e9)}` })
  return group.body.data.id
}

/** Uploads a file and waits until its import has ended. */
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

export const hostileImports: HostileInput[] = [
  {
    name: 'CSV of delimiters',
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
]
