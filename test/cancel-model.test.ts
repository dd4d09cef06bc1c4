import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { startRelay } from './support/relay.ts'
import { announcedSeed, type Seeded } from './support/seeded.ts'
import { createModel, type Model, Recipients } from './support/sending-model.ts'
import { startSharedApp } from './support/test-app.ts'
import { longTestMsMax } from './support/time-limits.ts'

/** `INTERLEAVINGS=10000 npx vitest run test/cancel-model.test.ts` for a long run. */
const interleavings = Number(process.env.INTERLEAVINGS ?? 100)
const atOnce = Number(process.env.AT_ONCE ?? 60)
const retryDelays = Array.from({ length: 20 }, (_, index) => 0.05 * Math.min(10, index + 1)).join(',')

const random = announcedSeed('cancel, pause, resume and reschedule')
const recipients = new Recipients(random.fork())
const steady = recipients.attach(await startRelay({ parse: false }))
const breaking = await recipients.breakingRelay()
const newOrganization = await startSharedApp({
  SMTP_URL: steady.url,
  SMTP_CONNECTIONS: '4',
  MAIL_RETRY_DELAYS: retryDelays,
})

async function runAll(model: Model): Promise<void> {
  let left = interleavings
  const runSome = async () => {
    while (left-- > 0) await model.run()
  }
  await Promise.all(Array.from({ length: atOnce }, runSome))
}

test('what the API answered about an email is what its recipient got', {
  timeout: longTestMsMax.kills(interleavings / 20),
}, async () => {
  const model = await createModel(newOrganization, recipients, {
    random,
    steadyUrl: steady.url,
    breakingUrl: breaking.url,
  })
  const ended = new AbortController()
  const faults = (async (choices: Seeded) => {
    while (!ended.signal.aborted) {
      await sleep(choices.int(500, 3_000))
      if (choices.chance(0.2)) await model.expireLeases()
      else await recipients.outage(choices.int(50, 800))
    }
  })(random.fork())
  await runAll(model).finally(() => {
    ended.abort()
    return faults
  })
  const problems = await model.problems()
  console.info(model.counts())
  expect(problems).toEqual([])
})
