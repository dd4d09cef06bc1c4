import { expect, test } from 'vitest'
import { type PostResult, reasonInWords, resultOfStatus } from './post-outcome.ts'
import { defaultRules, type ResponseRules, retryAfterSeconds } from './response-rules.ts'
import { becauseOf, isLocalResourceError, Unreachable } from './unreachable.ts'

const lenient: ResponseRules = { acknowledge: '2xx', retry4xx: [408, 429] }

test.each([
  [200, defaultRules, 'acknowledged', 'Responded 200'],
  [204, defaultRules, 'not_acknowledged', 'Responded 204 (200 expected)'],
  [503, defaultRules, 'not_acknowledged', 'Responded 503 (200 expected)'],
  [302, defaultRules, 'not_acknowledged', 'Responded 302 (200 expected; redirects are not followed)'],
  [410, defaultRules, 'refused', 'Responded 410 (not retried)'],
  [429, defaultRules, 'refused', 'Responded 429 (not retried)'],
  [204, lenient, 'acknowledged', 'Responded 204'],
  [299, lenient, 'acknowledged', 'Responded 299'],
  [302, lenient, 'not_acknowledged', 'Responded 302 (2xx expected; redirects are not followed)'],
  [500, lenient, 'not_acknowledged', 'Responded 500 (2xx expected)'],
  [408, lenient, 'not_acknowledged', 'Responded 408 (2xx expected)'],
  [425, lenient, 'refused', 'Responded 425 (not retried)'],
] as const)('the status %i by the rules %j is %s: %s', (statusCode, rules, kind, words) => {
  const result = resultOfStatus(statusCode, rules)
  expect([result.kind, reasonInWords(result)]).toEqual([kind, words])
})

test.each<[PostResult, string]>([
  [{ kind: 'timed_out', timeoutMs: 10_000 }, 'No response within 10 seconds'],
  [{ kind: 'unreachable', because: 'refused the connection' }, 'Refused the connection'],
])('the reason of %o reads: %s', (outcome, words) => {
  expect(reasonInWords(outcome)).toBe(words)
})

const now = Date.parse('2027-01-01T12:00:00Z')
test.each([
  [undefined, 0],
  ['0', 0],
  ['90', 90],
  ['-5', 0],
  ['1e3', 0],
  ['soon', 0],
  ['99999', 3_600],
  ['Fri, 01 Jan 2027 12:05:00 GMT', 300],
  ['Fri, 01 Jan 2027 11:00:00 GMT', 0],
  ['Fri, 01 Jan 2077 11:00:00 GMT', 3_600],
  [['10', '20'], 0],
])('Retry-After %j is %i seconds', (header, seconds) => {
  expect(retryAfterSeconds(header, now)).toBe(seconds)
})

const coded = (code: string, syscall?: string) => Object.assign(new Error('x'), { code, syscall })

test.each([
  ['an unknown name', coded('ENOTFOUND', 'getaddrinfo'), 'the name does not resolve'],
  ['a name without addresses', coded('ENODATA', 'queryA'), 'the name does not resolve'],
  ['a name server that is down', coded('ECONNREFUSED', 'queryA'), 'the name could not be resolved'],
  ['a name server that is slow', coded('ETIMEOUT', 'queryAaaa'), 'the name could not be resolved'],
  ['a missing route', coded('ENETUNREACH', 'connect'), 'cannot be reached over the network'],
  ['a handshake that failed', coded('ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION'), 'the TLS handshake failed (ERR_SSL_TLSV1'],
  ['several addresses that failed', new AggregateError([coded('ENETUNREACH'), coded('ECONNREFUSED')]), 'refused the'],
  ['words that are words already', new Unreachable('was unlucky'), 'was unlucky'],
  ['a code nobody foresaw', coded('EWHATEVER'), 'the connection failed (EWHATEVER)'],
  ['an error without a code', new Error('x'), 'the connection failed (unknown)'],
])('%s has a reason', (_, error, words) => {
  expect(becauseOf(error)).toContain(words)
})

test.each([
  [true, coded('EMFILE', 'connect')],
  [true, coded('ENOBUFS', 'connect')],
  [true, new AggregateError([coded('ENFILE', 'connect'), coded('ENETUNREACH', 'connect')])],
  [false, coded('ECONNREFUSED', 'queryA')],
  [false, coded('ECONNREFUSED', 'connect')],
  [false, coded('ETIMEOUT', 'queryA')],
])('isLocalResourceError is %s for %o', (isOurs, error) => {
  expect(isLocalResourceError(error)).toBe(isOurs)
})
