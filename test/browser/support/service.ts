import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { decodeJwt, SignJWT } from 'jose'
import { pino } from 'pino'
import { afterAll } from 'vitest'
import { type Environment, readConfig } from '../../../src/platform/config/config.ts'
import type { Db } from '../../../src/platform/db/db.ts'
import { deriveKey } from '../../../src/platform/secrets/secrets.ts'
import { createService, type ServiceOptions } from '../../../src/service.ts'
import { registration } from '../../support/global-setup.ts'
import { insertOwner, sessionOf } from '../../support/organizations.ts'
import { freePort } from '../../support/service.ts'
import { type Answer, callUrl, spareTaskProcesses } from '../../support/test-app.ts'
import { createTestDb } from '../../support/test-db.ts'
import { waitMsMax } from '../../support/time-limits.ts'
import type { OpenPage } from './open-page.ts'

export type Service = AsyncDisposable & {
  /** With a slash at the end. */
  url: string
  db: Db
  /** Calls the management API with a session. `path` is relative to /api/v1. */
  manage(session: string, method: string, path: string, body?: unknown): Promise<Answer>
  /** Pages that the tests of a file use one after the other, by size and theme. Only for a shared service. */
  pages?: Map<string, OpenPage[]>
}

export type Account = { email: string; password: string; session: string }

const daySeconds = 24 * 60 * 60
const appSecret = 'a secret that only the browser tests know'
const secrets = { current: appSecret, previous: undefined }

type Options = { path?: string; settings?: Environment; tuning?: ServiceOptions['tuning'] }
/** Everybody may register, and then use any sender, as in the default settings. */
const sharedSettings = { SIGNUP: 'open', SIGNUPS_PER_HOUR: '0', REQUIRE_VERIFIED_DOMAINS: 'false' }
/** Many tests at once come from one address, and the machine may be busy. */
const sharedTuning = {
  sessionRequestsPerSecond: 0,
  signInRequestsPerMinute: 0,
  pageRequestsPerSecond: 0,
  recipientNamesMsMax: waitMsMax,
}

/** Starts the whole service like `npm start`, with an empty database and no users. */
export async function startService({ path = '', settings = {}, tuning }: Options = {}): Promise<Service> {
  const testDb = await createTestDb({ started: true })
  const dataDir = mkdtempSync(join(tmpdir(), 'waxwing-browser-'))
  // Links in emails contain the URL of the service, so the port must be known before it listens.
  const port = await freePort()
  const baseUrl = `http://127.0.0.1:${port}${path}`
  const config = readConfig({
    PORT: String(port),
    BASE_URL: baseUrl,
    DATA_DIR: dataDir,
    EGRESS_ALLOW_PRIVATE: 'true',
    LOG_LEVEL: 'silent',
    ...settings,
  })
  const app = await createService({
    config,
    secrets,
    db: testDb.db,
    log: pino({ level: config.LOG_LEVEL }),
    roles: ['serve', 'work'],
    spareTaskProcesses,
    tuning,
  })
  await app.start()
  // A public address is only in links.
  const url = config.BASE_URL.startsWith('https:') ? baseUrl : config.BASE_URL
  return {
    url: `${url}/`,
    db: testDb.db,
    manage: (session, method, path, body) =>
      callUrl(method, `${url}/api/v1${path}`, { headers: { authorization: `Bearer ${session}` }, body }),
    [Symbol.asyncDispose]: async () => {
      await app.stop()
      await testDb[Symbol.asyncDispose]()
      rmSync(dataDir, { recursive: true, force: true })
    },
  }
}

/**
 * Starts a service for all tests of a file, each of which registers its own organization. Call it at the top of the
 * file. The tests also share pages (see `openTab`), because the first load of the app in a new page takes most of the
 * CPU time of a short test.
 */
export async function startSharedService(settings: Environment = {}): Promise<Service> {
  const service = await startService({ settings: { ...sharedSettings, ...settings }, tuning: sharedTuning })
  const pages = new Map<string, OpenPage[]>()
  afterAll(async () => {
    await Promise.all([...pages.values()].flat().map(({ context }) => context.close()))
    await service[Symbol.asyncDispose]()
  })
  return { ...service, pages }
}

let ownerCount = 0

/** Creates an organization and its owner. */
export async function registerOwner(
  service: Service,
  organizationName = 'Acme',
  email = `owner${++ownerCount}@acme.example`,
): Promise<Account> {
  const account = await insertOwner(service.db, organizationName, email)
  return { email, password: registration.password, session: await sessionOf(service.db, secrets, account) }
}

/** Returns a function that calls the management API as the account; its paths are below /api/v1/organization. */
export const organizationApi =
  (service: Pick<Service, 'manage'>, { session }: Pick<Account, 'session'>) =>
  async (method: string, path: string, body?: unknown): Promise<Answer['body']> => {
    const answer = await service.manage(session, method, `/organization${path}`, body)
    if (answer.status >= 300) throw new Error(answer.text)
    return answer.body?.data
  }

/** Returns the session of the account with an expiry in the past. */
export async function expiredSession(account: Account): Promise<string> {
  const { org, pwd, sub, iss } = decodeJwt<{ org: string; pwd: string }>(account.session)
  const issuedAt = Math.floor(Date.now() / 1000) - daySeconds
  return new SignJWT({ org, pwd })
    .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
    .setIssuer(iss ?? '')
    .setSubject(sub ?? '')
    .setIssuedAt(issuedAt)
    .setExpirationTime(issuedAt + 60)
    .sign(deriveKey(appSecret, 'session'))
}
