import { pino } from 'pino'
import { expect, test } from 'vitest'
import { FailureLog } from './failure-log.ts'

const connectionLost = Object.assign(new Error('connection lost'), { code: 'ECONNRESET' })

function startLog(everyMs?: number) {
  const lines: Record<string, unknown>[] = []
  const log = pino({ base: null, timestamp: false }, { write: (line) => lines.push(JSON.parse(line)) })
  return { lines, failures: new FailureLog({ log, isOutage: (error) => error === connectionLost, everyMs }) }
}

test('work that fails again and again is logged once, and again when it succeeds', () => {
  const { lines, failures } = startLog()
  failures.succeeded('loop tidy')
  for (let n = 0; n < 50; n++) failures.failed('loop tidy', new Error('broken'))
  failures.failed('loop other', new Error('also broken'))
  failures.succeeded('loop tidy')
  failures.failed('loop tidy', new Error('broken again'))
  expect(lines).toMatchObject([
    { level: 50, msg: 'Repeated work failed; retrying', work: 'loop tidy', failures: 1, err: { message: 'broken' } },
    { level: 50, msg: 'Repeated work failed; retrying', work: 'loop other', failures: 1 },
    { level: 30, msg: 'Repeated work succeeds again', work: 'loop tidy', failures: 50 },
    { level: 50, msg: 'Repeated work failed; retrying', work: 'loop tidy', err: { message: 'broken again' } },
  ])
})

test('while failures continue, a line has their number', () => {
  const { lines, failures } = startLog(0)
  for (let n = 0; n < 3; n++) failures.failed('loop tidy', connectionLost)
  expect(lines.map(({ msg, failures, reason }) => [msg, failures, reason])).toEqual(
    [1, 2, 3].map((count) => ['The database is unavailable; retrying', count, 'connection lost']),
  )
})

test('an outage of the database is one failure, and does not end with work that does not use the database', () => {
  const { lines, failures } = startLog()
  for (let n = 0; n < 20; n++) failures.failed(`loop ${n}`, connectionLost)
  failures.succeeded('loop without database')
  expect(lines).toHaveLength(1)
  expect(lines[0]).not.toHaveProperty('err')
})
