import type { Browser, BrowserContext, Page, Route } from 'playwright-core'
import type { Account, Service } from './service.ts'

export type Size = 'desktop' | 'phone'
export const sizes: Size[] = ['desktop', 'phone']

/** Far longer than on an idle machine. */
const timeoutMs = 60_000
const views = {
  desktop: { viewport: { width: 1360, height: 860 } },
  phone: { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true },
} as const

export type Tab = AsyncDisposable & { page: Page; context: BrowserContext; problems: string[] }
export type TabOptions = { size?: Size; theme?: 'light' | 'dark'; account?: Account }

/** Opens a separate browser context for one test. `problems` collects the errors on its console. */
export async function openTab(browser: Browser, service: Service, options: TabOptions = {}): Promise<Tab> {
  const context = await browser.newContext({
    baseURL: service.url,
    colorScheme: options.theme ?? 'light',
    // Moving elements cannot be clicked or measured reliably.
    reducedMotion: 'reduce',
    ...views[options.size ?? 'desktop'],
  })
  context.setDefaultTimeout(timeoutMs)
  const page = await context.newPage()
  if (options.account) await signIn(page, service, options.account)
  const problems: string[] = []
  page.on('console', (message) => {
    // The app shows rejected requests to the user; the browser logs them as well.
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource'))
      problems.push(message.text())
  })
  page.on('pageerror', (error) => problems.push(error.message))
  return { page, context, problems, [Symbol.asyncDispose]: () => context.close() }
}

/**
 * Stores a session, which skips the sign-in page. In the page of the test, because the option `storageState` of a
 * context opens another page for it, in a process of its own.
 */
async function signIn(page: Page, service: Service, account: Account): Promise<void> {
  const name = `waxwing.session:${new URL(service.url).pathname}`
  const session = JSON.stringify({ token: account.session, expiresAt: '', email: account.email })
  await page.route(service.url, (route) => route.fulfill({ contentType: 'text/html', body: '' }))
  await page.goto(service.url)
  await page.evaluate(`localStorage.setItem(${JSON.stringify(name)}, ${JSON.stringify(session)})`)
  await page.unroute(service.url)
}

/** Follows a link of the navigation, which is behind the menu button on a phone. */
export async function goTo(page: Page, link: string): Promise<void> {
  const menu = page.getByRole('button', { name: 'Menu', exact: true })
  const inSideBar = page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: link, exact: true })
  // Both are missing while the page is loading or a dialog is closing.
  await menu.or(inSideBar).first().waitFor()
  if (await menu.isVisible()) {
    await menu.click()
    await page.getByRole('dialog').getByRole('link', { name: link, exact: true }).click()
    await page.getByRole('dialog').waitFor({ state: 'hidden' })
  } else {
    await inSideBar.click()
  }
}

/** The label of one option of a segmented control. */
export const segment = (page: Page, control: string, choice: string) =>
  page.getByRole('radiogroup', { name: control }).locator('label').filter({ hasText: choice })

/** Holds requests, so that a test can check the loading state. The returned function releases them. */
export async function hold(page: Page, url: string): Promise<() => Promise<void>> {
  let held: Route[] | undefined = []
  await page.route(url, async (route) => {
    if (held) held.push(route)
    else await route.continue()
  })
  return async () => {
    const waiting = held ?? []
    held = undefined
    await Promise.all(waiting.map((route) => route.continue()))
  }
}
