import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { createTokens, type MailIds, type Tokens } from '../../src/platform/secrets/tokens.ts'
import type { EventData, EventName } from '../../src/platform/values/event-types.ts'
import {
  type ContactId,
  type FlowId,
  type MessageId,
  type OrganizationId,
  parseId,
} from '../../src/platform/values/ids.ts'
import { createFlow, send } from './flows.ts'
import { callUrl, startTestApp, type TestApp } from './test-app.ts'
import { until } from './until.ts'

export const appSecret = 'the secret of tests that sign links themselves'
export const person = 'Mozilla/5.0 (Macintosh; Intel Mac OS X 14_5) AppleWebKit/605.1.15'
export const tokens: Tokens = createTokens({ current: appSecret })

export const clickPath = (ids: MailIds, url: string): string =>
  `/t/c/${tokens.sign('email', ids)}/${tokens.signDestination(ids, { url })}`

export type StoredEvent = {
  id: string
  eventName: EventName
  messageId: string | null
  contactId: string
  machine: boolean
  machineReason: string | null
  data: EventData
}

/** Starts a service with one sent email and its reader. */
export async function startWithReader(
  environment: Record<string, string> = {},
  flow: object = {},
  ...more: Parameters<typeof startTestApp> extends [unknown?, unknown?, ...infer Rest] ? Rest : never
) {
  const app = await startTestApp({ APP_SECRET: appSecret, ...environment }, ['serve', 'work'], ...more)
  const ids = await sendTo(app, 'ada@example.com', flow)
  return Object.assign(app, { ids, ...reading(app) })
}

export async function sendTo(app: TestApp, contactEmail: string, flow: object = {}): Promise<MailIds> {
  const flowId = await createFlow(app, { name: `Flow for ${contactEmail}`, ...flow })
  const { body } = await send(app, flowId, { contact_email: contactEmail })
  return {
    organizationId: parseId('org', app.organizationId) as OrganizationId,
    messageId: parseId('msg', body.data.message_id) as MessageId,
    contactId: parseId('con', body.data.contact_id) as ContactId,
    flowId: parseId('flw', flowId) as FlowId,
  }
}

function reading(app: TestApp) {
  const get = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
    callUrl(method, `${app.url}${path}`, { headers: { 'user-agent': person, ...headers } })
  // On a busy machine, a commit may take so long that a hit goes through the spool.
  const replayed = () =>
    until('the spool to be empty', () => {
      const folder = join(app.config.DATA_DIR, 'spool')
      return !existsSync(folder) || readdirSync(folder).length === 0
    })
  /** All events except emailSent. */
  const events = async () => {
    await replayed()
    return app.db<StoredEvent>`
      select id, event_name, message_id, contact_id, machine, machine_reason, data from events
      where event_name <> 'emailSent' order by occurred_at, id`
  }
  let readers = 0
  return {
    get,
    events,
    /** Creates another reader, who was sent an email. */
    newReader: async (name = 'reader') => {
      const email = `${name}${++readers}@example.com`
      const ids = await sendTo(app, email)
      return {
        email,
        ids,
        events: async () => (await events()).filter(({ contactId }) => contactId === ids.contactId),
      }
    },
    subscription: async (email = 'ada@example.com') => {
      await replayed()
      const [row] = await app.db<{ subscription: string }>`select subscription from contacts where email = ${email}`
      return row?.subscription
    },
  }
}
