import { expect, test } from 'vitest'
import { parseTimestamp } from './timestamp.ts'

test('a timestamp with an offset is read to the millisecond', () => {
  for (const [text, iso] of [
    ['2026-03-02T09:30:00Z', '2026-03-02T09:30:00.000Z'],
    ['2026-03-02t09:30:00.123456z', '2026-03-02T09:30:00.123Z'],
    ['2026-03-02 09:30:00+05:30', '2026-03-02T04:00:00.000Z'],
    ['2024-02-29T23:59:59-01:00', '2024-03-01T00:59:59.000Z'],
  ] as const)
    expect(parseTimestamp(text)?.toISOString()).toBe(iso)
})

test('everything else is none', () => {
  for (const text of [
    '',
    '2026-03-02',
    '2026-03-02T09:30:00',
    '2026-03-02T09:30Z',
    '2026-02-29T09:30:00Z',
    '2026-03-02T24:00:00Z',
    '2026-03-02T09:30:60Z',
    '2026-03-02T09:30:00+24:00',
    '2026-03-02T09:30:00 UTC',
    '1772443800',
  ])
    expect([text, parseTimestamp(text)]).toEqual([text, undefined])
})
