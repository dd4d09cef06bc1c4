import { expect, test } from 'vitest'
import { pauseSending, resumeSending } from '../../src/operations/sending-status/sending-pause.ts'
import { sharedBrowser } from './support/chromium.ts'
import { openTab } from './support/pages.ts'
import { registerOwner, startService } from './support/service.ts'

const browser = await sharedBrowser()

test('every page shows that sending is paused, until it is resumed', async () => {
  await using service = await startService()
  const account = await registerOwner(service)
  await pauseSending(service.db.statement, 'restored')
  await using tab = await openTab(browser, service, { account })
  const { page } = tab
  const banner = page.getByRole('status').filter({ hasText: 'Sending is paused' })
  for (const path of ['messages', 'contacts']) {
    await page.goto(path)
    await banner.waitFor()
  }
  expect(await banner.innerText()).toContain('waxwing resume-sending')

  await resumeSending(service.db.statement)
  await page.goto('messages')
  await page.getByRole('heading', { name: 'Messages', level: 1 }).waitFor()
  await page.waitForLoadState('networkidle')
  expect(await banner.count()).toBe(0)
})
