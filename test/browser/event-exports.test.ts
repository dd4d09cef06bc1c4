import { expect, test } from 'vitest'
import { credentials, region, startS3 } from '../support/s3-server.ts'
import { sharedBrowser } from './support/chromium.ts'
import { chooseAction, openTab } from './support/pages.ts'
import { registerOwner, startSharedService } from './support/service.ts'

const browser = await sharedBrowser()
const service = await startSharedService({})

test('an export is added, tested, edited, paused and deleted', async () => {
  await using s3 = await startS3()
  const account = await registerOwner(service)
  await using tab = await openTab(browser, service, { account })
  const { page } = tab
  await page.goto('developers/exports')
  await page.getByRole('button', { name: 'Add export' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('button', { name: 'Create export' }).click()
  await dialog.getByText('Bucket is required.').waitFor()
  const fill = (label: string, value: string) => dialog.getByLabel(label).fill(value)
  await fill('Name', 'Warehouse')
  await fill('Endpoint', `${s3.url}/path`)
  await fill('Region', region)
  await fill('Bucket', 'acme-events')
  await fill('Folder', 'waxwing')
  await fill('Access key ID', credentials.accessKeyId)
  await dialog.getByRole('textbox', { name: 'Secret access key' }).fill('wrong')
  await dialog.getByRole('button', { name: 'Create export' }).click()
  await dialog.getByText('must be an address without a path', { exact: false }).waitFor()
  await fill('Endpoint', s3.url)
  await dialog.getByRole('button', { name: 'Create export' }).click()

  await page.getByRole('heading', { name: 'Warehouse' }).waitFor()
  await page.getByText('acme-events/waxwing/').waitFor()
  await page.getByRole('button', { name: 'Upload test file' }).click()
  await page.getByText('Responded 403: SignatureDoesNotMatch', { exact: false }).first().waitFor()

  await chooseAction(page, 'Edit')
  await dialog.getByRole('textbox', { name: 'Secret access key' }).fill(credentials.secretAccessKey)
  await dialog.getByRole('button', { name: 'Save' }).click()
  await dialog.waitFor({ state: 'hidden' })
  await page.getByRole('button', { name: 'Upload test file' }).click()
  await page.getByText('The test file was stored').waitFor()
  expect([...s3.objects.keys()]).toEqual(['acme-events/waxwing/waxwing-test.txt'])

  await page.getByRole('button', { name: 'Pause' }).click()
  await page.getByText('This export is paused').waitFor()
  await chooseAction(page, 'Delete')
  await page.getByRole('button', { name: 'Delete export' }).click()
  await page.getByText('No exports yet').waitFor()
  expect(tab.problems).toEqual([])
})
