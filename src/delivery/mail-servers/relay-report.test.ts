import { openRelay } from '@waxwing/smtp-client'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { startRawSmtp } from '../../../test/support/raw-smtp.ts'
import { until } from '../../../test/support/until.ts'
import { reportRelay } from './relay-report.ts'

test('an outage of the relay is logged once, not with every attempt to connect, and so is its end', async () => {
  const lines: { level: number; msg: string }[] = []
  const report = reportRelay(pino({}, { write: (line) => lines.push(JSON.parse(line)) }))
  let [states, isDown] = [0, true]
  await using server = await startRawSmtp({
    answer: ({ verb }) => (isDown && verb === 'EHLO' ? '421 4.3.2 Going down' : undefined),
  })
  const relay = openRelay(server.url, {
    relayLimits: { retryDelayMsMin: 1, retryDelayMsMax: 1 },
    onState: (state) => {
      states++
      report(state)
    },
  })
  const send = () => relay.send({ envelope: { from: 'a@example.com', to: 'b@example.com' }, raw: Buffer.from('x') })
  await until('several attempts', async () => (await send()).kind === 'unreachable' && states > 5)
  isDown = false
  await until('the email', async () => (await send()).kind === 'accepted')
  await relay.close()
  expect(lines.map(({ msg }) => msg)).toEqual(['Relay is not accepting email', 'Relay is accepting email again'])
})
