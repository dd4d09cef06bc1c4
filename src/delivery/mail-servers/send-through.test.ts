import { openRelay } from '@waxwing/smtp-client'
import { expect, test } from 'vitest'
import { type Answer, startRawSmtp } from '../../../test/support/raw-smtp.ts'
import type { MailServerId, OrganizationId } from '../../platform/values/ids.ts'
import type { OpenServer } from './open-server.ts'
import { type Carried, sendThrough } from './send-through.ts'

const mail = { envelope: { from: 'hello@acme.example', to: 'ada@example.com' }, raw: 'Subject: Hello\r\n\r\nHello' }

async function startServer(name: string, answer: (verb: string) => Answer | undefined) {
  const smtp = await startRawSmtp({ answer: ({ verb }) => answer(verb) })
  const relay = openRelay(smtp.url)
  const server: OpenServer = {
    ...{ id: name as MailServerId, organizationId: 'org' as OrganizationId, name, host: name, provider: null },
    ...{ kinds: ['transactional'], fromDomains: [], priority: 1, weight: 1 },
    ...{ messagesPerSecond: null, messagesPerDay: null, shapeByReceiver: true },
    state: () => relay.state(),
    send: (email, options) => relay.send(email, options),
  }
  return {
    server,
    [Symbol.asyncDispose]: async () => {
      await relay.close()
      await smtp.close()
    },
  }
}

/** The second server has reached its limit. */
async function sendThroughBoth(servers: readonly OpenServer[]) {
  const outcomes: Carried[] = []
  const limit = { organizationId: 'org' as OrganizationId, key: 'server', name: 'Second', perSecond: 1, perDay: null }
  const result = await sendThrough(servers, mail, {
    movesOn: true,
    take: ({ name }) =>
      name === 'Second'
        ? { kind: 'wait', limit, cause: 'limit', waitMs: 1_000 }
        : { kind: 'taken', at: new Date(), giveBack: () => {} },
    onOutcome: (carried) => outcomes.push(carried),
  })
  return { result, outcomes: outcomes.map(({ server, outcome }) => `${server.name} ${outcome.kind}`) }
}

test('the deferral of one server counts although a limit of the next is reached', async () => {
  await using first = await startServer('First', (verb) => (verb === 'MAIL' ? '451 4.7.1 Later' : undefined))
  await using second = await startServer('Second', () => undefined)
  const { result, outcomes } = await sendThroughBoth([first.server, second.server])
  expect(result).toMatchObject({ kind: 'carried', outcome: { kind: 'deferred', reply: '451 4.7.1 Later' } })
  expect(outcomes).toEqual(['First deferred'])
})

test('an interruption because of a rate is reported although the next server accepts the email', async () => {
  await using first = await startServer('First', (verb) => (verb === 'RCPT' ? '421 4.7.0 Too fast' : undefined))
  await using second = await startServer('Other', () => undefined)
  const { result, outcomes } = await sendThroughBoth([first.server, second.server])
  expect(result).toMatchObject({ kind: 'carried', server: { name: 'Other' }, outcome: { kind: 'accepted' } })
  expect(outcomes).toEqual(['First interrupted', 'Other accepted'])
})

test('if no server answers, the email waits for the limit of the next', async () => {
  await using first = await startServer('First', (verb) => (verb === 'greeting' ? '554 No service' : undefined))
  await using second = await startServer('Second', () => undefined)
  const { result } = await sendThroughBoth([first.server, second.server])
  expect(result).toMatchObject({ kind: 'limited', refused: { waitMs: 1_000 } })
})
