import { expect, test } from 'vitest'
import { until } from '../support/until.ts'
import { barriersInBothThemes } from './support/axe.ts'
import { sharedBrowser } from './support/chromium.ts'
import { openTab } from './support/pages.ts'
import { organizationApi, registerOwner, startSharedService } from './support/service.ts'

const browser = await sharedBrowser()
const service = await startSharedService()

/** The link that simulated recipients click. */
const link = 'https://simulator.waxwing.test/'

/** Sends a broadcast to six recipients who react, and one who lacks a variable. */
async function sendNews() {
  const account = await registerOwner(service)
  const manage = organizationApi(service, account)
  const html = `<p>News from {{ city }}. <a href="${link}">Read more</a></p>`
  const flow = await manage('POST', '/flows', { name: 'Newsletter', kind: 'marketing', subject: 'May news', html })
  const group = await manage('POST', '/groups', { name: 'Readers' })
  const ids: string[] = []
  const address = (name: string) => `${name}@simulator.waxwing.test`
  // Without a city, there is no email.
  ids.push((await manage('POST', '/contacts', { email: address('nowhere') })).id)
  for (const name of ['open', 'click', 'delivered', 'delivered+two', 'hard-bounce', 'delivered+staff'])
    ids.push((await manage('POST', '/contacts', { email: address(name), attributes: { city: 'Vienna' } })).id)
  await manage('POST', `/groups/${group.id}/members`, { contact_ids: ids })
  const staff = await manage('POST', '/groups', { name: 'Staff' })
  const audience = { group_ids: [group.id], exclude_group_ids: [staff.id] }
  const broadcast = await manage('POST', '/broadcasts', { name: 'May', flow_id: flow.id, audience })
  await manage('POST', `/broadcasts/${broadcast.id}/start`, {})
  await until('the reactions', async () => {
    const { status, results, counts } = await manage('GET', `/broadcasts/${broadcast.id}`)
    return status === 'sent' && counts.bounced === 1 && results.clicked === 1 && results.opened >= 1
  })
  return { account, manage, flow, broadcast, staff, ids }
}

test('a number of the results, or of the comparison of broadcasts, leads to its people', async () => {
  const { account, broadcast } = await sendNews()
  await using tab = await openTab(browser, service, { account, size: 'phone' })
  const { page } = tab
  await page.goto(`broadcasts/${broadcast.id}`)
  // The email shows who clicked on its links.
  const email = page.getByRole('region', { name: 'Email' })
  const linked = email.frameLocator('iframe').getByRole('link', { name: 'Read more' })
  const label = () =>
    linked.evaluate((element) => element.ownerDocument.defaultView!.getComputedStyle(element, '::after').content)
  await until('the clicks on the link', async () => (await label()) === '"1 (16.7%)"')
  const hours = page.getByRole('region', { name: 'First 48 hours' })
  await hours.getByRole('button', { name: 'Show as table' }).click()
  await hours.getByRole('listitem').or(hours.getByRole('row')).first().waitFor()
  const result = page.getByRole('region', { name: 'Result' })
  await result.getByRole('link', { name: /^Bounced/ }).click()
  const recipients = page.getByRole('region', { name: 'Recipients' })
  await recipients.getByText('open@simulator.waxwing.test').waitFor({ state: 'hidden' })
  await recipients.getByText('hard-bounce@simulator.waxwing.test').waitFor()
  // What happened to emails is a share of the emails sent, recipients without one of all recipients.
  expect(await result.getByRole('definition').allInnerTexts()).toEqual(['1 16.7%', '1 14.3%'])
  // What the numbers count is said once on the page, on request.
  await page.getByText(/^Sent to 6, /).waitFor()
  expect(await page.getByText('automated', { exact: false }).count()).toBe(0)
  await result.getByRole('button', { name: 'What is counted' }).click()
  await page.getByText('automated ones, by scanners').waitFor()
  await page.keyboard.press('Escape')
  await result.getByRole('link', { name: /^Not opened\s*3\s*50%$/ }).click()
  await recipients.getByText('delivered+two@simulator.waxwing.test').waitFor()
  expect(await recipients.getByRole('combobox', { name: 'Show' }).inputValue()).toBe('Not opened (3)')
  await page.getByRole('link', { name: /^1 clicked https:/ }).click()
  await recipients.getByText('click@simulator.waxwing.test').waitFor()
  const linkFilter = recipients.getByRole('combobox', { name: 'Link' })
  expect(await linkFilter.inputValue()).toBe(link)
  await linkFilter.click()
  await page.getByRole('option', { name: link }).waitFor()
  await page.keyboard.press('Escape')
  expect(await barriersInBothThemes(page)).toEqual([])

  await page.goto('broadcasts')
  await page.getByRole('link', { name: 'Compare' }).click()
  await page.getByRole('heading', { name: 'Compare broadcasts' }).waitFor()
  await page.getByRole('link', { name: 'May', exact: true }).waitFor()
  expect(await barriersInBothThemes(page)).toEqual([])
  await page.getByRole('link', { name: 'Clicked: 1', exact: true }).click()
  await recipients.getByText('delivered@simulator.waxwing.test').waitFor({ state: 'hidden' })
  await recipients.getByText('click@simulator.waxwing.test').waitFor()
  await page.evaluate('history.back()')
  await page.getByRole('heading', { name: 'Compare broadcasts' }).waitFor()
  await page.evaluate('history.back()')
  await page.getByRole('heading', { name: 'Broadcasts', exact: true }).waitFor()
  expect(tab.problems).toEqual([])
})

test('those who did not open a broadcast get it again, with another subject', async () => {
  const { account, manage, flow, broadcast, staff, ids } = await sendNews()
  // Since then, a recipient joined a group that is left out, and the flow was changed.
  await manage('POST', `/groups/${staff.id}/members`, { contact_ids: ids.slice(-1) })
  await manage('PATCH', `/flows/${flow.id}`, { html: `<p>Corrected news. <a href="${link}">Read more</a></p>` })
  await using tab = await openTab(browser, service, { account, size: 'phone' })
  const { page } = tab
  await page.goto(`broadcasts/${broadcast.id}`)
  await page.getByRole('button', { name: 'Send again to those who did not open' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('3 of 6 have not opened. 2 of them get it again.').waitFor()
  await dialog.getByText('Recipients got version 1 of the flow. The draft sends the current one, version 2.').waitFor()
  expect(await barriersInBothThemes(page)).toEqual([])
  await dialog.getByLabel('Subject').fill('May news')
  await dialog.getByRole('button', { name: 'Create draft' }).click()
  await dialog.getByText('must differ from the subject of the first email').waitFor()
  await dialog.getByLabel('Subject').fill('Did you miss our news?')
  await dialog.getByRole('button', { name: 'Create draft' }).click()

  await page.getByRole('heading', { name: 'May, sent again', level: 1 }).waitFor()
  await page.getByText('Recipients who have not opened May').waitFor()
  await page.getByRole('button', { name: 'Check recipients' }).click()
  await page.getByRole('button', { name: 'Start for 2 recipients' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Send to 2 recipients' }).click()
  await page.getByText(/^Sent to 2, /).waitFor()
  const messages = await manage('GET', '/messages?query=Did+you+miss')
  expect(messages.map(({ contact }: { contact: { email: string } }) => contact.email).sort()).toEqual([
    'delivered+two@simulator.waxwing.test',
    'delivered@simulator.waxwing.test',
  ])
  expect(tab.problems).toEqual([])
})
