import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import type { Browser, Page } from 'playwright-core'
import { packageRoot } from '../src/platform/config/package-root.ts'
import { launchBrowser } from '../test/browser/support/chromium.ts'

/** `npm run screenshots`: takes the pictures of the README from the demo, in the browser of the tests. */

const folder = join(packageRoot, 'docs/screenshots')
const bytesMax = 200_000
const port = process.env.PORT ?? '3999'
const url = `http://localhost:${port}/`

type Account = { email: string; password: string }
type Picture = { name: string; theme?: 'dark'; take: (page: Page) => Promise<void> }

const pictures: Picture[] = [
  { name: 'overview', take: openOverview },
  { name: 'overview-dark', theme: 'dark', take: openOverview },
  {
    name: 'flow-editor',
    take: async (page) => {
      await page.goto(`${url}flows`)
      await page.getByRole('link', { name: 'Order shipped' }).click()
      await page.getByRole('link', { name: 'Edit' }).click()
      await page
        .frameLocator('iframe')
        .first()
        .getByText(/Your order A-\d+ .* has left our warehouse/)
        .waitFor()
      // The code editor is loaded after the preview.
      await page.locator('.cm-content').waitFor()
    },
  },
  {
    name: 'webhook',
    take: async (page) => {
      await page.goto(`${url}developers/webhooks`)
      await page.getByRole('link', { name: 'Shop' }).click()
      await page.getByRole('table').waitFor()
    },
  },
  {
    name: 'broadcast',
    take: async (page) => {
      await page.goto(`${url}broadcasts`)
      await page.getByRole('link', { name: 'Loyalty program launch' }).click()
      await page.getByText('Winner').waitFor()
    },
  },
]

async function openOverview(page: Page): Promise<void> {
  await page.goto(url)
  await page.getByRole('heading', { name: 'Sent by day' }).waitFor()
  await page.getByRole('button', { name: 'Hide the checklist' }).click()
  await page.getByRole('region', { name: 'Sent by day' }).locator('svg path').first().waitFor()
}

/** Starts the service with the demo in an empty folder, and passes its account to `work`. */
async function withDemo(work: (account: Account) => Promise<void>): Promise<void> {
  const dataDir = mkdtempSync(join(tmpdir(), 'waxwing-screenshots-'))
  const service = spawn(process.execPath, [join(packageRoot, 'dist/bin/cli.js'), 'start', '--demo'], {
    cwd: dataDir,
    env: { ...process.env, PORT: port, DATA_DIR: dataDir, LOG_LEVEL: 'error', BASE_URL: url.slice(0, -1) },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(service, 'exit')
  try {
    await work(await readAccount(service.stdout))
  } finally {
    service.kill('SIGTERM')
    await ended
    rmSync(dataDir, { recursive: true, force: true })
  }
}

function readAccount(output: Readable): Promise<Account> {
  let printed = ''
  return new Promise((resolve, reject) => {
    output.setEncoding('utf8').on('data', (text: string) => {
      printed += text
      const [, email, password] = /sign in as (\S+) with the password (\S+)/.exec(printed) ?? []
      if (email && password) resolve({ email, password })
    })
    output.on('end', () => reject(new Error(`The service ended before it was ready:\n${printed}`)))
  })
}

async function takePicture(browser: Browser, account: Account, { name, theme, take }: Picture): Promise<void> {
  const context = await browser.newContext({
    viewport: { width: 1280, height: 800 },
    colorScheme: theme ?? 'light',
    reducedMotion: 'reduce',
    locale: 'en-US',
    timezoneId: 'UTC',
  })
  const page = await context.newPage()
  await page.goto(`${url}login`)
  await page.getByLabel('Email').fill(account.email)
  await page.getByLabel('Password', { exact: true }).fill(account.password)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('heading', { name: 'Overview' }).waitFor()
  await take(page)
  await page.mouse.move(0, 0)
  await page.waitForLoadState('networkidle')
  const path = join(folder, `${name}.png`)
  await page.screenshot({ path, animations: 'disabled' })
  const { size } = statSync(path)
  if (size > bytesMax) throw new Error(`${path} has ${size} bytes, more than ${bytesMax}.`)
  process.stdout.write(`${path} (${Math.round(size / 1024)} KiB)\n`)
  await context.close()
}

await withDemo(async (account) => {
  const browser = await launchBrowser()
  for (const picture of pictures) await takePicture(browser, account, picture)
  await browser.close()
})
