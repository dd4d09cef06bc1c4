import { openRelay } from '@waxwing/smtp-client'
import { pino } from 'pino'
import { expect } from 'vitest'
import { ApiRequestLog, type NewApiRequest } from '../src/accounts/api-requests/api-request-log.ts'
import { MailServers } from '../src/delivery/mail-servers/mail-servers.ts'
import { checkCluster } from '../src/operations/commands/doctor-cluster.ts'
import type { Finding } from '../src/operations/commands/finding.ts'
import { recordNotice } from '../src/operations/notices/notices.ts'
import { findNodesOf } from '../src/platform/db/cluster/nodes.ts'
import type { Db } from '../src/platform/db/db.ts'
import { newId, type OrganizationId, parseId } from '../src/platform/values/ids.ts'
import { asDistributed, collectStatements } from './support/as-distributed.ts'
import { failureLog } from './support/failure-log.ts'
import { installationCarriers } from './support/installation-servers.ts'
import { addMailServer } from './support/mail-servers.ts'
import { takeDown } from './support/node-down.ts'
import { startNoticeEmails } from './support/notice-emails.ts'
import { type Person, password, registerOther } from './support/people.ts'
import { oneServerTest as test } from './support/server-tests.ts'
import { copiedTables } from './support/statement-rules.ts'
import { startTestApp, type TestApp } from './support/test-app.ts'
import { until } from './support/until.ts'

// A node of a distributed database that is down affects only its own organizations.

const log = pino({ level: 'silent' })
const organizationOf = ({ organizationId }: Pick<Person, 'organizationId'>) =>
  parseId('org', organizationId) as OrganizationId

/** Registers an organization on another node than that of the operator. */
async function registerOnOtherNode(app: TestApp, db: Db): Promise<Person> {
  const own = organizationOf(app)
  for (let number = 1; ; number++) {
    const person = await registerOther(app, `owner${number}@other.example`)
    const other = organizationOf(person)
    const nodes = await findNodesOf(db, [own, other])
    if (nodes.get(own) !== nodes.get(other)) return person
  }
}

test('signing in writes only to the node of the organization', async () => {
  await using app = await startTestApp({}, ['serve'])
  using statements = collectStatements()
  const answer = await app.call('POST', '/api/v1/auth/login', { body: { email: 'owner@acme.example', password } })
  expect(answer.status).toBe(200)
  const writes = new RegExp(String.raw`\b(?:insert into|update|delete from) (?:${copiedTables.join('|')})\b`)
  expect(statements.texts.filter((text) => /insert into sessions/.test(text))).toHaveLength(1)
  expect(statements.texts.filter((text) => writes.test(text))).toEqual([])
})

test('shared mail servers are used while the node of the operator is down, also by a process that starts then', async () => {
  await using app = await startTestApp({}, ['serve'])
  const db = await asDistributed(app.db)
  const other = organizationOf(await registerOnOtherNode(app, db))
  await addMailServer(app, { name: 'Shared', url: 'smtp://127.0.0.1:1', is_shared: true })
  const open = () => openRelay('smtp://127.0.0.1:1')
  const email = { organizationId: other, id: newId('msg'), flowKind: 'marketing' as const, mailServerId: null }
  const serversOf = async (servers: MailServers) => {
    await servers.load(other)
    return servers.serversFor(email, 'hello@acme.example')?.map(({ name }) => name)
  }
  const before = new MailServers({ db, relay: undefined, open, onState: () => {} })
  expect(await serversOf(before)).toEqual(['Shared'])

  await takeDown(db, organizationOf(app), ['mail_servers'])
  const started = new MailServers({ db, relay: undefined, open, onState: () => {} })
  expect(await serversOf(started)).toEqual(['Shared'])
  await before.changed(other)
  expect(await serversOf(before)).toEqual(['Shared'])
  await Promise.all([before.close(), started.close()])
})

test('the limits of the operator for receiving sites apply while its node is down', async () => {
  await using app = await startTestApp({}, ['serve'], { openFor: ({ db }) => asDistributed(db) })
  const other = await registerOnOtherNode(app, app.db)
  const limits = { messages_per_second: 3, messages_per_day: null }
  expect((await app.manage('PUT', '/organization/receiving-sites/google', limits)).status).toBe(200)
  const defaultsOf = async () => {
    const { status, body } = await other.manage('GET', '/organization/receiving-sites')
    return [status, body.data?.find(({ site }: { site: string }) => site === 'google').default_messages_per_second]
  }
  expect(await defaultsOf()).toEqual([200, 3])
  await takeDown(app.db, organizationOf(app), ['receiving_sites'])
  expect(await defaultsOf()).toEqual([200, 3])
})

test('emails to users of other nodes are sent', async () => {
  await using app = await startTestApp({}, ['serve'])
  const db = await asDistributed(app.db)
  const other = await registerOnOtherNode(app, db)
  for (const each of [app, other])
    await db.begin((tx) =>
      recordNotice(tx, {
        organizationId: organizationOf(each),
        kind: 'relay_down',
        title: 'The mail server can’t be reached',
        detail: 'No email has been sent.',
        path: '/sending/setup',
      }),
    )
  await takeDown(db, organizationOf(app), ['notices'])
  const settings = {
    baseUrl: 'https://mail.acme.example',
    mailFrom: { name: 'Acme', email: 'hello@acme.example' },
    bounceDomain: undefined,
  }
  await using _worker = startNoticeEmails({ db, log, settings, carriers: installationCarriers(db, settings) })
  const inbox = await until('the email', async () => {
    const { data } = (await other.manage('GET', '/organization/inbox')).body
    return data.length > 0 && data
  })
  expect(inbox.map(({ to }: { to: string }) => to)).toEqual([other.email])
})

test('password resets of other nodes are sent', async () => {
  await using app = await startTestApp({}, ['serve', 'work'], { openFor: ({ db }) => asDistributed(db) })
  const other = await registerOnOtherNode(app, app.db)
  await takeDown(app.db, organizationOf(app), ['password_resets'])
  for (const email of ['owner@acme.example', other.email])
    expect((await app.call('POST', '/api/v1/auth/forgot-password', { body: { email } })).status).toBe(200)
  await until('the email', async () => {
    const inbox = (await other.manage('GET', '/organization/inbox')).body.data
    return inbox.some(({ to }: { to: string }) => to === other.email)
  })
})

test('the requests of other nodes are logged', async () => {
  await using app = await startTestApp({}, ['serve'])
  const db = await asDistributed(app.db)
  const other = organizationOf(await registerOnOtherNode(app, db))
  await takeDown(db, organizationOf(app), ['api_requests'])
  const requests = new ApiRequestLog({ db, failures: failureLog(log) })
  const row: NewApiRequest = {
    organizationId: other,
    apiKeyId: newId('key'),
    requestId: 'req_other',
    at: new Date(),
    via: 'api',
    method: 'GET',
    route: '/x',
    path: '/x',
    status: 200,
    durationMs: 1,
    client: null,
    userAgent: null,
    errorType: null,
    errorMessage: null,
    errorFields: null,
    query: null,
    body: null,
    response: null,
    notSent: null,
  }
  requests.add({ ...row, organizationId: organizationOf(app), requestId: 'req_down' })
  requests.add(row)
  await requests.stop()
  expect(await db`select request_id from stored_api_requests`).toEqual([{ requestId: 'req_other' }])
})

test('doctor names the node that is down', async () => {
  await using app = await startTestApp({}, ['serve'])
  const { db } = app
  await db.statement.script(`
    insert into pg_extension (oid, extname, extowner, extnamespace, extrelocatable, extversion)
    select 99999, 'citus', 10, oid, false, '13' from pg_namespace where nspname = current_schema();
    create table pg_dist_partition (logicalrelid regclass, partmethod "char", repmodel "char");
    insert into pg_dist_partition values ('contacts', 'h', 's');
    create table pg_dist_node (nodeid int, groupid int, nodename text, nodeport int, noderole text, isactive boolean);
    insert into pg_dist_node values (1, 1, 'first', 5432, 'primary', true), (2, 2, 'second', 5432, 'primary', true);
    create function citus_check_connection_to_node(name text, port int) returns boolean language sql
    as $$ select name = 'first' $$`)
  const found: Finding[] = []
  for await (const finding of checkCluster(db)) found.push(finding)
  expect(found[0]).toMatchObject({ ok: false, message: expect.stringContaining('the node second:5432 is down') })
})
