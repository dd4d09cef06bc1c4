import type { ServerResponse } from 'node:http'
import { expect, test } from 'vitest'
import { registerOther } from '../../../test/support/people.ts'
import { startTestApp } from '../../../test/support/test-app.ts'
import { until } from '../../../test/support/until.ts'
import { startReceiver } from '../../../test/support/webhook-receiver.ts'
import { StageRegistry } from '../../platform/runtime/stage-registry.ts'
import { newId } from '../../platform/values/ids.ts'
import { LinkChecker } from './link-checker.ts'

test('links are opened once, with redirects, and the reader learns which do not work', async () => {
  await using site = await startReceiver(
    (response, { path }) => {
      if (path === '/moved') response.writeHead(301, { location: '/ok' })
      else if (path.startsWith('/loop')) response.writeHead(302, { location: '/loop' })
      else if (path === '/out') response.writeHead(302, { location: 'javascript:alert(1)' })
      else response.writeHead({ '/ok': 200, '/closed': 403, '/down': 500 }[path] ?? 404)
      response.end(path === '/ok' ? Buffer.alloc(1_000_000) : '')
    },
    { plain: true },
  )
  await using app = await startTestApp({}, ['serve'])
  const at = (path: string) => site.url().replace(/\/hook.*$|\/$/, '') + path
  const urls = ['/ok', '/moved#part', '/loop', '/out', '/closed', '/down', '/gone', '/ok'].map(at)
  const { status, body } = await app.manage('POST', '/organization/flows/check-links', {
    urls: [...urls, 'ftp://files.example', 'nothing'],
  })
  expect(status).toBe(200)
  expect(body.data.map(({ url, status, detail }: Record<string, string>) => [url, status, detail])).toEqual([
    [urls[0], 'works', 'Responded 200.'],
    [urls[1], 'works', 'Responded 200.'],
    [urls[2], 'broken', 'It redirects too often.'],
    [urls[3], 'broken', 'It is not a valid http address.'],
    [urls[4], 'unclear', expect.stringContaining('Responded 403.')],
    [urls[5], 'broken', 'Responded 500.'],
    [urls[6], 'broken', 'Responded 404.'],
    ['ftp://files.example', 'broken', 'It is not a valid http address.'],
    ['nothing', 'broken', 'It is not a valid http address.'],
  ])
  expect(site.posts.filter(({ path }) => path === '/loop')).toHaveLength(5)
  expect(site.posts.every(({ headers }) => headers['user-agent'] === 'Waxwing link check')).toBe(true)
})

test('addresses that are not public and unusual ports are never opened, and nothing is told about them', async () => {
  await using site = await startReceiver((response) => response.end(), { plain: true })
  const checker = new LinkChecker({
    allowPrivate: false,
    stages: new StageRegistry(),
    lookup: async () => [{ address: '127.0.0.1', family: 4 }],
  })
  const port = new URL(site.url()).port
  const results = await checker.check(newId('org'), [
    'http://127.0.0.1/',
    'http://[::1]/',
    'http://169.254.169.254/latest/meta-data',
    'http://internal.waxwing.dev/',
    `http://127.0.0.1:${port}/`,
  ])
  checker.close()
  expect(results.map(({ status, detail }) => `${status}: ${detail}`)).toEqual([
    ...Array(4).fill('broken: Its address is not public.'),
    'skipped: Only the usual ports are checked.',
  ])
  expect(site.count.connections).toBe(0)
})

test('one organization opens few links at a time and a hundred a minute, whatever another does', async () => {
  const open: ServerResponse[] = []
  await using slow = await startReceiver((response) => open.push(response), { plain: true })
  await using app = await startTestApp({}, ['serve'])
  const other = await registerOther(app)
  const urlsOf = (from: number) => Array.from({ length: 50 }, (_, index) => `${slow.url()}?${from + index}`)
  const check = (urls: string[], manage = app.manage) => manage('POST', '/organization/flows/check-links', { urls })

  expect((await check([])).status).toBe(422)
  expect((await check([...urlsOf(0), ...urlsOf(50)])).status).toBe(422)
  const first = check(urlsOf(0))
  await until('four links to be opened', () => open.length === 4)
  const more = [check(urlsOf(50)), check(urlsOf(50))]
  // One of them waits, and the other exceeds the rate.
  const refused = await Promise.race(more)
  expect([refused.status, refused.body.error.type]).toEqual([429, 'rate_limited'])
  const theirs = check([slow.url()], other.manage)
  await until('the other organization to have its turn', () => open.length === 5)
  const answerAll = setInterval(() => {
    for (const response of open.splice(0)) response.end()
  }, 5)
  expect((await theirs).body.data).toMatchObject([{ status: 'works' }])
  const results = (await Promise.all([first, ...more])).flatMap(({ body }) => body.data ?? [])
  clearInterval(answerAll)
  expect(results).toHaveLength(100)
  // A site gets at most 60 requests a minute from here, of all organizations together.
  const skipped = results.filter(({ detail }) => detail.includes('checked often'))
  expect(skipped.length).toBeGreaterThan(0)
  expect(slow.posts).toHaveLength(1 + results.length - skipped.length)
})
