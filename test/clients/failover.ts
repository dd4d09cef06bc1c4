import { execFile } from 'node:child_process'
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { emails, fill } from '../support/broadcasts.ts'
import { addMailServer } from '../support/mail-servers.ts'
import { startRelay, type TestRelay } from '../support/relay.ts'
import { freePort } from '../support/service.ts'
import { startTestApp } from '../support/test-app.ts'
import { until } from '../support/until.ts'

// Postfix (package of Debian: postfix), which has to be started as root, is one of two mail servers.

const run = promisify(execFile)

/** Starts a Postfix that listens on a port of this machine and passes everything on to another server. */
async function startPostfix(next: TestRelay) {
  const folder = mkdtempSync(join(tmpdir(), 'waxwing-postfix-'))
  chmodSync(folder, 0o755)
  const port = await freePort()
  const [configuration, queue, data] = ['postfix', 'queue', 'data'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ]
  for (const each of [configuration, queue, data]) mkdirSync(each)
  cpSync('/etc/postfix/dynamicmaps.cf', join(configuration, 'dynamicmaps.cf'))
  const master = readFileSync('/etc/postfix/master.cf', 'utf8')
    .replace(/^smtp +inet.*$/m, `127.0.0.1:${port} inet n - n - - smtpd`)
    .replace(/^((?:\S+ +){4})y /gm, '$1n ')
  writeFileSync(join(configuration, 'master.cf'), master)
  const settings = {
    compatibility_level: '3.6',
    myhostname: 'second.acme.example',
    mydestination: '',
    mynetworks: '127.0.0.0/8',
    queue_directory: queue,
    data_directory: data,
    inet_protocols: 'ipv4',
    relayhost: `[127.0.0.1]:${next.port}`,
    smtp_tls_security_level: 'none',
    alias_maps: '',
    maillog_file_prefixes: folder,
    maillog_file: `${folder}/maillog`,
  }
  const lines = Object.entries(settings).map(([name, value]) => `${name} = ${value}`)
  writeFileSync(join(configuration, 'main.cf'), `${lines.join('\n')}\n`)
  await run('chown', ['postfix', data])
  const postfix = (command: string) => run('postfix', ['-c', configuration, command])
  await postfix('check')
  await postfix('start')
  return {
    url: `smtp://127.0.0.1:${port}`,
    [Symbol.asyncDispose]: async () => {
      await postfix('stop')
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

const count = 10_000

test('10,000 emails: the first server refuses connections, Postfix takes over, and none is lost or doubled', async () => {
  await using behindPostfix = await startRelay({ parse: false })
  await using postfix = await startPostfix(behindPostfix)
  await using app = await startTestApp()
  const port = await freePort()
  await addMailServer(app, { name: 'First', url: `smtp://127.0.0.1:${port}`, priority: 1 })
  await addMailServer(app, { name: 'Postfix', url: postfix.url, priority: 2 })
  const { group, create } = await fill(app)
  const broadcast = await create([await group('All', emails('a', count))])
  const startedAt = Date.now()
  await broadcast.start()
  await until('the first email through Postfix', () => behindPostfix.mails.length > 0)
  console.log(`first email through Postfix after ${Date.now() - startedAt} ms`)
  await until('a third of them', () => behindPostfix.mails.length > count / 3, 100_000)
  await using first = await startRelay({ port, parse: false })
  const { counts } = await broadcast.ended()
  expect(counts).toMatchObject({ sent: count, pending: 0, failed: 0 })
  await until('all emails', () => first.mails.length + behindPostfix.mails.length >= count, 100_000)
  const recipients = [...first.mails, ...behindPostfix.mails].map(({ recipient }) => recipient)
  expect(recipients).toHaveLength(count)
  expect(new Set(recipients).size).toBe(count)
  expect(first.mails.length).toBeGreaterThan(0)
  console.log(`${first.mails.length} through the first, ${behindPostfix.mails.length} through Postfix`)
}, 300_000)
