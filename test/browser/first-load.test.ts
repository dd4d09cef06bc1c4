import { expect, test } from 'vitest'
import { sharedBrowser } from './support/chromium.ts'
import { openTab } from './support/pages.ts'
import { registerOwner, startService } from './support/service.ts'

const firstLoadBytesMax = 250 * 1024

const browser = await sharedBrowser()

test('the first load is under 250 KiB of compressed script, without the editor and the charts', async () => {
  await using service = await startService()
  const account = await registerOwner(service)
  await using tab = await openTab(browser, service, { account })
  const { page } = tab

  await page.goto('settings/organization')
  await page.getByRole('heading', { name: 'Organization', level: 1 }).waitFor()
  const scripts = (await page.evaluate(
    `performance.getEntriesByType('resource').filter((entry) => entry.name.endsWith('.js'))
       .map((entry) => ({ name: entry.name, compressed: entry.encodedBodySize, plain: entry.decodedBodySize }))`,
  )) as { name: string; compressed: number; plain: number }[]

  const bytes = scripts.reduce((sum, script) => sum + script.compressed, 0)
  expect(bytes).toBeLessThan(firstLoadBytesMax)
  expect(bytes).toBeGreaterThan(0)
  expect(scripts.filter((script) => /code-|chart/.test(script.name))).toEqual([])
})

test('all requests go to the own origin, and no script is inlined', async () => {
  await using service = await startService()
  const account = await registerOwner(service)
  await using tab = await openTab(browser, service, { account })
  const { page } = tab
  const elsewhere: string[] = []
  page.on('request', (request) => {
    if (!request.url().startsWith(service.url) && !request.url().startsWith('data:')) elsewhere.push(request.url())
  })

  const answer = await page.goto('')
  await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor()
  expect(answer?.headers()['content-security-policy']).toContain("script-src 'self';")
  expect(await page.locator('script:not([src])').count()).toBe(0)
  expect(elsewhere).toEqual([])
  expect(tab.problems).toEqual([])
})

test('the app works below a base path', async () => {
  await using service = await startService({ path: '/mail/app' })
  const account = await registerOwner(service)
  await using tab = await openTab(browser, service, { account })
  const { page } = tab

  await page.goto('settings/organization')
  await page.getByRole('heading', { name: 'Organization', level: 1 }).waitFor()
  await page.getByRole('link', { name: 'Team' }).click()
  await page.getByRole('heading', { name: 'Team', level: 1 }).waitFor()
  expect(new URL(page.url()).pathname).toBe('/mail/app/settings/team')
  expect(tab.problems).toEqual([])
})
