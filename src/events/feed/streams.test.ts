import { expect, test } from 'vitest'
import { withResolvers } from '../../../test/support/with-resolvers.ts'
import { EventStreams } from './streams.ts'

/** Streams that end when they have to, unless they are `stuck`. */
function streamsOf(limits: { perOrganization: number; overall: number; turnMs: number }) {
  const streams = new EventStreams(limits)
  const open: string[] = []
  const start = (organization: string, name: string, stuck: Promise<void> = Promise.resolve()) =>
    streams.run(organization, async (end) => {
      open.push(name)
      if (!end.aborted) await new Promise((resolve) => end.addEventListener('abort', resolve))
      await stuck
      open.splice(open.indexOf(name), 1)
    })
  return { streams, open, start }
}

const soon = () => new Promise((resolve) => setImmediate(resolve))
const never = Number.POSITIVE_INFINITY

test('twenty organizations with all places leave one to each further organization', async () => {
  const { streams, open, start } = streamsOf({ perOrganization: 5, overall: 100, turnMs: never })
  for (let n = 0; n < 100; n++) void start(`${n % 20}`, `${n}`)
  await expect(start('3', 'sixth')).rejects.toMatchObject({ type: 'rate_limited' })
  for (let n = 0; n < 4; n++) void start('21st', `of the 21st ${n}`)
  await soon()
  expect(streams.used).toBe(100)
  expect(open.slice(0, 2)).toEqual(['4', '5'])
  expect(open.slice(-4)).toEqual([0, 1, 2, 3].map((n) => `of the 21st ${n}`))
  // The others have four or five, so it would only change places with them.
  await expect(start('21st', 'one more')).rejects.toMatchObject({ type: 'unavailable' })
  await expect(start('0', 'again')).rejects.toMatchObject({ type: 'unavailable' })
})

test('organizations with as many streams change places after some time', async () => {
  const { open, start } = streamsOf({ perOrganization: 2, overall: 2, turnMs: 0 })
  void start('a', 'first')
  void start('b', 'second')
  void start('c', 'third')
  await soon()
  expect(open).toEqual(['second', 'third'])
  await expect(start('c', 'another')).rejects.toMatchObject({ type: 'unavailable' })
  void start('a', 'again')
  await soon()
  expect(open).toEqual(['third', 'again'])
})

test('a stream begins when the one whose place it takes has ended', async () => {
  const { streams, open, start } = streamsOf({ perOrganization: 2, overall: 2, turnMs: never })
  const { promise: stuck, resolve: release } = withResolvers()
  void start('a', 'stuck', stuck)
  void start('a', 'other')
  void start('b', 'next')
  await soon()
  expect([open, streams.used]).toEqual([['stuck', 'other'], 2])
  release()
  await soon()
  expect([open, streams.used]).toEqual([['other', 'next'], 2])
})
