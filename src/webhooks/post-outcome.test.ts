import { expect, test } from 'vitest'
import { type PostResult, reasonInWords } from './post-outcome.ts'
import { becauseOf, isLocalResourceError, Unreachable } from './unreachable.ts'

test.each<[PostResult, string]>([
  [{ kind: 'acknowledged', statusCode: 200 }, 'answered 200'],
  [{ kind: 'refused', statusCode: 410 }, 'answered 410, which is final'],
  [{ kind: 'not_acknowledged', statusCode: 204 }, 'answered 204; only 200 acknowledges'],
  [{ kind: 'not_acknowledged', statusCode: 503 }, 'answered 503; only 200 acknowledges'],
  [{ kind: 'not_acknowledged', statusCode: 302 }, 'answered 302; redirects are not followed and only 200 acknowledges'],
  [{ kind: 'timed_out', timeoutMs: 10_000 }, 'did not answer within 10 seconds'],
  [{ kind: 'unreachable', because: 'refused the connection' }, 'refused the connection'],
])('the reason of %o reads: %s', (outcome, words) => {
  expect(reasonInWords(outcome)).toBe(words)
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
