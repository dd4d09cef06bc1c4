import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { callUrl } from '../support/test-app.ts'
import { until } from '../support/until.ts'
import { barriersInBothThemes } from './support/axe.ts'
import { sharedBrowser } from './support/chromium.ts'
import { openTab, sizes } from './support/pages.ts'
import { registerOwner, startSharedService } from './support/service.ts'

const browser = await sharedBrowser()
const service = await startSharedService()

test.for(sizes)('an email without a flow shows its recipients, tags and attachments (%s)', async (size) => {
  const account = await registerOwner(service)
  const { manage } = service
  const key = await manage(account.session, 'POST', '/organization/api-keys', { name: 'shop' })
  const sent = await callUrl('POST', `${service.url}public/api/v1/emails`, {
    headers: { 'x-api-token': key.body.data.api_key },
    body: {
      from: 'Acme <billing@acme.example>',
      to: ['Ada <ada@example.com>', 'ben@example.com'],
      cc: 'accounting@example.com',
      subject: 'Your invoice',
      html: '<p>Thank you!</p>',
      tags: [{ name: 'category', value: 'invoice' }],
      attachments: [
        { filename: 'invoice.txt', content: Buffer.from('Invoice 1042').toString('base64') },
        { filename: 'Geschäftsbedingungen.pdf', content: Buffer.alloc(150_000).toString('base64') },
      ],
    },
  })
  const [{ id }] = sent.body.data.messages

  await using tab = await openTab(browser, service, { size, account })
  const { page } = tab
  await page.goto(`messages/${id}`)
  await page.getByText('category: invoice').waitFor()
  await page.getByText('accounting@example.com', { exact: true }).waitFor()
  await page.getByText('Emails without a flow').waitFor()
  await page.getByText('147 KB').waitFor()
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'invoice.txt' }).click(),
  ])
  expect(await readFile(await download.path(), 'utf8')).toBe('Invoice 1042')
  expect(await barriersInBothThemes(page)).toEqual([])

  await until(
    'the email',
    async () => (await manage(account.session, 'GET', `/organization/inbox/${id}`)).status === 200,
  )
  await page.goto(`inbox/${id}`)
  await page.getByRole('button', { name: 'Geschäftsbedingungen.pdf' }).waitFor()

  await page.goto('messages')
  await page.getByRole('combobox', { name: 'Flow' }).click()
  await page.getByRole('option', { name: 'Emails without a flow' }).waitFor()
  expect(tab.problems).toEqual([])
})
