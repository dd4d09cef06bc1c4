import { readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { newFolder, startCommand } from './support/command.ts'
import { orderFlow } from './support/flows.ts'
import { type ReceivedEmail, startRelay } from './support/relay.ts'
import { create } from './support/resources.ts'
import { type Customer, makeDataDir, newCustomer, startService } from './support/service.ts'
import { callUrl } from './support/test-app.ts'
import { createTestDb, type TestDb } from './support/test-db.ts'
import { longTestMsMax } from './support/time-limits.ts'
import { until } from './support/until.ts'

const sendsBefore = 500
const atOnce = 20
const passphrase = 'a passphrase of the backup'

const messageIdOf = ({ raw }: ReceivedEmail) => /^Message-ID: <(msg_\w+)@/m.exec(raw)![1]!

/** Sends until `stop` is called, and collects the ids of accepted messages. */
function startSending(url: string, customer: Customer, flowId: string) {
  const accepted: string[] = []
  let isRunning = true
  const sendOne = async (n: number) => {
    const headers = { 'x-api-token': customer.apiKey }
    // The relay defers every tenth email, so that the backup has some that are queued.
    const email = n % 10 === 0 ? `deferred${n}@example.com` : `c${n}@example.com`
    const body = { flow_id: flowId, contact_email: email, context: { order_id: n } }
    const answer = await callUrl('POST', `${url}/public/api/v1/flow/send-email-through-flow`, { headers, body })
    if (answer.status === 200) accepted.push(answer.body.data.message_id)
  }
  let next = 0
  const sendAll = async () => {
    while (isRunning) await sendOne(next++)
  }
  const sending = Promise.all(Array.from({ length: atOnce }, sendAll))
  const stop = async () => {
    isRunning = false
    await sending
  }
  return { accepted, stop }
}

/** Runs a command to its end. The passphrase is written to standard input. */
async function runCommand(words: string[], environment: Record<string, string>, input = passphrase) {
  using place = newFolder()
  await using command = startCommand(words, environment, { cwd: place.path })
  command.child.stdin!.end(`${input}\n`)
  return await command.ended
}

/** The parts of messages and contacts that do not change after they were accepted, by message. */
async function acceptedRows(db: TestDb['db']) {
  const rows = await db<{ id: string }>`
    select messages.id, messages.email, subject, context, recipient, queued_at, contact_id, contacts.email_key
    from messages join contacts on contacts.organization_id = messages.organization_id and contacts.id = contact_id`
  return new Map(rows.map((row) => [row.id, row]))
}

test('a backup under load is restored with everything that was accepted before it began, and sends nothing on its own', {
  timeout: longTestMsMax.processes,
}, async () => {
  using files = newFolder()
  await using source = await createTestDb()
  await using target = await createTestDb({ empty: true })
  await using relay = await startRelay({ parse: false })
  relay.onRecipient = (address) => (address.startsWith('deferred') ? { code: 451, text: 'later' } : undefined)
  const [sourceDir, targetDir] = [makeDataDir(), makeDataDir()]
  // Without APP_SECRET, the secret is in DATA_DIR.
  const environment = { DATABASE_URL: source.url, DATA_DIR: sourceDir, APP_SECRET: '' }
  const restored = { DATABASE_URL: target.url, DATA_DIR: targetDir, APP_SECRET: '' }
  const file = join(files.path, 'backup')

  await using service = await startService('start', { ...environment, SMTP_URL: relay.url })
  const customer = await newCustomer(service.url)
  const flowId = (await create(customer, '/flows', orderFlow)).id
  const load = startSending(service.url, customer, flowId)
  await until('some sends', () => load.accepted.length >= sendsBefore)
  const before = [...load.accepted]
  const made = await runCommand(['backup', file, '--passphrase-stdin'], environment)
  const after = load.accepted.length
  await load.stop()
  // A backup that takes longer than two seconds reports its progress.
  expect([made.code, made.stderr]).toEqual([0, expect.stringMatching(/^(Backing up: .*\n)*$/)])
  expect(JSON.parse(made.stdout)).toMatchObject({ file, encrypted: true, bytes: statSync(file).size })
  expect(after).toBeGreaterThan(before.length)
  expect(statSync(file).mode & 0o777).toBe(0o600)

  // Nothing is changed by a wrong passphrase or a damaged file.
  const wrong = await runCommand(['restore', file, '--passphrase-stdin'], restored, 'not the passphrase')
  expect([wrong.code, wrong.stderr]).toEqual([1, 'The passphrase is wrong. Nothing was changed.\n'])
  const damaged = join(files.path, 'damaged')
  writeFileSync(damaged, readFileSync(file))
  truncateSync(damaged, statSync(file).size - 1_000)
  const cut = await runCommand(['restore', damaged, '--passphrase-stdin'], restored)
  expect([cut.code, cut.stderr]).toEqual([
    1,
    expect.stringMatching(/incomplete or damaged: .*\. Nothing was changed\./),
  ])
  expect(await target.db`select from pg_tables where schemaname = 'public'`).toEqual([])

  const done = await runCommand(['restore', file, '--passphrase-stdin'], restored)
  expect(done.code, done.stderr).toBe(0)
  expect(done.stderr).toContain('Sending is paused')
  expect(readFileSync(join(targetDir, 'secret'), 'utf8')).toBe(readFileSync(join(sourceDir, 'secret'), 'utf8'))
  const [sourceRows, targetRows] = [await acceptedRows(source.db), await acceptedRows(target.db)]
  const missing = [...targetRows].filter(([id, row]) => JSON.stringify(row) !== JSON.stringify(sourceRows.get(id)))
  expect(missing).toEqual([])
  expect(targetRows.size).toBeGreaterThanOrEqual(before.length)

  await using otherRelay = await startRelay({ parse: false })
  await using copy = await startService('start', { ...restored, SMTP_URL: otherRelay.url })
  // Credentials and sessions of the source are valid.
  const inCopy = (id: string) =>
    callUrl('GET', `${copy.url}/api/v1/organization/messages/${id}`, {
      headers: { authorization: `Bearer ${customer.session}` },
    })
  // One user has a limited number of requests in progress.
  for (let at = 0; at < before.length; at += 100) {
    const found = await Promise.all(before.slice(at, at + 100).map(async (id) => (await inCopy(id)).status))
    expect(found.filter((status) => status !== 200)).toEqual([])
  }

  const newest = await callUrl('POST', `${copy.url}/public/api/v1/flow/send-email-through-flow`, {
    headers: { 'x-api-token': customer.apiKey },
    body: { flow_id: flowId, contact_email: 'new@example.com', context: { order_id: 1 } },
  })
  const resumed = await runCommand(['resume-sending', '--discard-queued'], restored)
  expect(resumed.stdout).toMatch(
    /^Discarded [1-9]\d* emails and 0 webhook deliveries that were queued\.\nSending is resumed\.\nDatabase: postgres:.*\n$/,
  )
  await until('the new email', () => otherRelay.mails.length > 0)
  expect(otherRelay.mails.map(messageIdOf)).toEqual([newest.body.data.message_id])
})
