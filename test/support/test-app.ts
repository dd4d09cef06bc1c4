import { mkdtempSync, rmSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { afterAll, inject } from 'vitest'
import { createApiKey } from '../../src/accounts/people/api-keys.ts'
import type { Role } from '../../src/platform/area.ts'
import { type Config, type Environment, readConfig } from '../../src/platform/config/config.ts'
import type { Db } from '../../src/platform/db/db.ts'
import type { AppSecrets } from '../../src/platform/secrets/secrets.ts'
import type { TaskChild } from '../../src/platform/tasks/task-child.ts'
import { toText } from '../../src/platform/values/ids.ts'
import { createService, type Service, type ServiceOptions } from '../../src/service.ts'
import { registration, type TestOwner } from './global-setup.ts'
import { OpenApiCheck } from './openapi-check.ts'
import { insertOwner, sessionOf } from './organizations.ts'
import { createTestDb, type TestDb } from './test-db.ts'

// biome-ignore lint/suspicious/noExplicitAny: tests read responses of any shape
export type Answer = { status: number; headers: Headers; body: any; text: string }

export type Call = { headers?: Record<string, string>; body?: unknown; raw?: string | Uint8Array }

export type TestApp = AsyncDisposable & {
  app: Service
  openapi: OpenApiCheck
  db: Db
  config: Config
  secrets: AppSecrets
  url: string
  /** Throws if the response does not match the OpenAPI document. */
  call(method: string, path: string, call?: Call): Promise<Answer>
  /** Sends a request with the owner's session; `path` is below /api/v1. */
  manage(method: string, path: string, body?: unknown): Promise<Answer>
  /** Sends a request with an API key; `path` is below /public/api/v1. */
  publicApi(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>
  session: string
  apiKey: string
  organizationId: string
}

type TestServiceOptions = Pick<ServiceOptions, 'tuning' | 'describesApi'> & {
  openFor?: (testDb: TestDb) => Db | Promise<Db>
  log?: ServiceOptions['log']
  /** True if a service has used the database before. */
  started?: boolean
}

/** Shared by all apps, because compiling the document takes longer than most tests. */
let documented: OpenApiCheck | undefined
/** Starting one takes 0.3 s of CPU time. Shared by all services of a worker process. */
export const spareTaskProcesses: TaskChild[] = []
const appSecret = 'a secret that only the tests know, and all of them do'

/** Starts the complete service on a free port with its own database, an organization, its owner and an API key. */
export async function startTestApp(
  environment: Environment = {},
  roles: readonly Role[] = ['serve', 'work'],
  { openFor = ({ db }) => db, log: ownLog, started = true, tuning, describesApi = false }: TestServiceOptions = {},
): Promise<TestApp> {
  const owner = started ? inject('owner') : undefined
  const testDb = await createTestDb({ started, registered: owner !== undefined })
  // The service may connect to its database differently from the test.
  const db = await openFor(testDb)
  db.isDistributed = testDb.db.isDistributed
  const dataDir = mkdtempSync(join(tmpdir(), 'waxwing-app-'))
  const config = readConfig({
    PORT: '0',
    DATA_DIR: dataDir,
    SIGNUP: 'open',
    REQUIRE_VERIFIED_DOMAINS: 'false',
    EGRESS_ALLOW_PRIVATE: 'true',
    RATE_LIMIT_PER_SECOND: '0',
    SIGNUPS_PER_HOUR: '0',
    LOG_LEVEL: 'silent',
    ...environment,
  })
  const secrets = { current: config.APP_SECRET ?? appSecret, previous: config.APP_SECRET_PREVIOUS }
  const log = ownLog ?? pino({ level: config.LOG_LEVEL })
  const app = await createService({
    config,
    secrets,
    db,
    log,
    roles,
    spareTaskProcesses,
    tuning: {
      requestsInFlightPerCaller: 0,
      sessionRequestsPerSecond: 0,
      signInRequestsPerMinute: 0,
      pageRequestsPerSecond: 0,
      ...tuning,
    },
    describesApi: describesApi || documented === undefined,
  })
  await app.start()
  const { port } = app.server.server.address() as AddressInfo
  const url = `http://127.0.0.1:${port}`

  documented ??= await OpenApiCheck.of(app)
  const openapi = documented
  const call = async (method: string, path: string, options: Call = {}) => {
    const answer = await callUrl(method, `${url}${path}`, options)
    if (answer.body !== undefined && path !== '/openapi.json')
      openapi.check(method, `${url}${path}`, answer.status, answer.body)
    return answer
  }
  const signedIn = owner ? await signIn(testDb.db, secrets, owner) : await registerOwner(`${url}/api/v1`)

  return {
    app,
    openapi,
    db: testDb.db,
    config,
    secrets,
    url,
    call,
    ...apisOf(call, signedIn),
    [Symbol.asyncDispose]: async () => {
      await app.stop()
      if (db !== testDb.db) await db.close()
      await testDb[Symbol.asyncDispose]()
      rmSync(dataDir, { recursive: true, force: true })
    },
  }
}

/**
 * Starts a service for all tests of a file, which stops after the last one. The returned function creates an
 * organization for one test: starting a service for each takes 0.3 s of CPU time. The database also has the rows of the
 * other tests, so this is for tests that look at it through the API or at the rows of their organization. Users of
 * earlier tests give up their addresses. Call it at the top of the file.
 */
export async function startSharedApp(...options: Parameters<typeof startTestApp>): Promise<() => Promise<TestApp>> {
  const shared = await startTestApp(...options)
  afterAll(() => shared[Symbol.asyncDispose]())
  const create = async () => {
    await shared.db.statement`
      update users set email_key = id || '.' || email_key where not starts_with(email_key, id::text)`
    const account = await insertOwner(shared.db, 'Acme', 'owner@acme.example')
    const { key: apiKey } = await createApiKey(shared.db, account, { name: 'test' })
    const signedIn = await signIn(shared.db, shared.secrets, { account, apiKey })
    return { ...shared, ...apisOf(shared.call, signedIn), [Symbol.asyncDispose]: async () => {} }
  }
  // One after the other, since all of them take the same address.
  let last: Promise<unknown> = Promise.resolve()
  return () => {
    const created = last.then(create)
    last = created.catch(() => {})
    return created
  }
}

type SignedIn = Pick<TestApp, 'session' | 'apiKey' | 'organizationId'>

function apisOf(call: TestApp['call'], signedIn: SignedIn): SignedIn & Pick<TestApp, 'manage' | 'publicApi'> {
  const { session, apiKey } = signedIn
  return {
    ...signedIn,
    manage: (method, path, body) =>
      call(method, `/api/v1${path}`, { headers: { authorization: `Bearer ${session}` }, body }),
    publicApi: (method, path, body, headers = {}) =>
      call(method, `/public/api/v1${path}`, { headers: { 'x-api-token': apiKey, ...headers }, body }),
  }
}

async function signIn(db: Db, secrets: AppSecrets, { account, apiKey }: TestOwner): Promise<SignedIn> {
  const session = await sessionOf(db, secrets, account)
  return { session, apiKey, organizationId: toText('org', account.organizationId) }
}

async function registerOwner(api: string): Promise<SignedIn> {
  const { organizationName, ...credentials } = registration
  const registered = await callUrl('POST', `${api}/auth/register`, {
    body: { organization_name: organizationName, ...credentials },
  })
  const { token: session, organization_id: organizationId } = registered.body.data
  const key = await callUrl('POST', `${api}/organization/api-keys`, {
    headers: { authorization: `Bearer ${session}` },
    body: { name: 'test' },
  })
  return { session, apiKey: key.body.data.api_key, organizationId }
}

export async function callUrl(method: string, url: string, { headers = {}, body, raw }: Call = {}): Promise<Answer> {
  const response = await fetch(url, {
    method,
    redirect: 'manual',
    headers: body === undefined ? headers : { 'content-type': 'application/json', ...headers },
    body: (body === undefined ? raw : JSON.stringify(body)) ?? null,
  })
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.includes('json')
  return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : undefined, text }
}
