import type { Browser, BrowserContext, Page, Route } from 'playwright-core'
import type { Account, Service } from './service.ts'

export type Size = 'desktop' | 'phone'
export const sizes: Size[] = ['desktop', 'phone']

const patienceMs = 15_000
const views = {
  desktop: { viewport: { width: 1360, height: 860 } },
  phone: { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true },
} as const

export type Tab = AsyncDisposable & { page: Page; context: BrowserContext; problems: string[] }
export type TabOptions = { size?: Size; theme?: 'light' | 'dark'; account?: Account }

/** A browser of its own for one test. What the page complains about on its console is kept. */
export async function openTab(browser: Browser, service: Service, options: TabOptions = {}): Promise<Tab> {
  const context = await browser.newContext({
    baseURL: service.url,
    colorScheme: options.theme ?? 'light',
    // What moves is neither clicked nor measured well.
    reducedMotion: 'reduce',
    ...views[options.size ?? 'desktop'],
  })
  context.setDefaultTimeout(patienceMs)
  const page = await context.newPage()
  const problems: string[] = []
  page.on('console', (message) => {
    // A refused request is shown to the person; that the browser notes it too is no fault.
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource'))
      problems.push(message.text())
  })
  page.on('pageerror', (error) => problems.push(error.message))
  if (options.account) await signIn(page, service, options.account)
  return { page, context, problems, [Symbol.asyncDispose]: () => context.close() }
}

/** Starts with a session, without walking through the login each time. */
async function signIn(page: Page, service: Service, account: Account): Promise<void> {
  await page.goto('login')
  const key = `waxwing.session:${new URL(service.url).pathname}`
  const session = JSON.stringify({ token: account.session, expiresAt: '', email: account.email })
  await page.evaluate(`localStorage.setItem(${JSON.stringify(key)}, ${JSON.stringify(session)})`)
}

/** Goes to a place by the navigation, which is behind the menu button on a phone. */
export async function goTo(page: Page, place: string): Promise<void> {
  const menu = page.getByRole('button', { name: 'Menu', exact: true })
  if (await menu.isVisible()) {
    await menu.click()
    await page.getByRole('dialog').getByRole('link', { name: place, exact: true }).click()
    await page.getByRole('dialog').waitFor({ state: 'hidden' })
  } else {
    await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: place, exact: true }).click()
  }
}

/** One choice of a segmented control, as the mouse finds it. */
export const segment = (page: Page, control: string, choice: string) =>
  page.getByRole('radiogroup', { name: control }).locator('label').filter({ hasText: choice })

/** Lets requests wait, so that a test sees what stands there meanwhile. What it answers lets them go on. */
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
