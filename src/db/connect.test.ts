import { pino } from 'pino'
import { expect, test } from 'vitest'
import { createTestDb, type TestDb } from '../../test/support/test-db.ts'
import { openDatabase } from './connect.ts'

const log = pino({ level: 'silent' })

type Server = { host: string; port: number; user: string; database: string }
const serverOf = ({ connection }: TestDb) => connection as Server
const urlOf = ({ host, port }: Server, login: string, database: string, more = '') =>
  `postgres://${login}@localhost/${database}?host=${encodeURIComponent(host)}&port=${port}${more}`

const open = (url: string) => openDatabase({ url, dataDir: '/nowhere', connectionsMax: 1, log })

async function descriptionOf(url: string): Promise<string> {
  const { description, close } = await open(url)
  await close()
  return description
}

test('no password is shown, wherever in the address it stands', async () => {
  await using testDb = await createTestDb({ empty: true })
  const { host, port, user, database } = serverOf(testDb)
  const description = await descriptionOf(urlOf(serverOf(testDb), `${user}:hunter2`, database))
  expect(description).toContain(`${user}:********@`)
  expect(description).not.toContain('hunter2')
  const parameters = `host=${host}&port=${port}&user=${user}`
  for (const name of ['password', 'p%61ssword']) {
    const shown = await descriptionOf(`postgres:///${database}?${parameters}&${name}=hunter2&geqo=on`)
    expect(shown).toMatch(/password=\*{8}&geqo=on$/)
    expect(shown).not.toContain('hunter2')
  }
})
