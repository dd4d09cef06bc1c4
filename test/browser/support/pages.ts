import type { Browser, Locator, Page, Route } from 'playwright-core'
import { waitMsMax } from '../../support/time-limits.ts'
import type { OpenPage } from './open-page.ts'
import type { Account, Service } from './service.ts'

export type Size = 'desktop' | 'phone'
export const sizes: Size[] = ['desktop', 'phone']

const views = {
  desktop: { viewport: { width: 1360, height: 860 } },
  phone: { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true },
} as const

export type Tab = AsyncDisposable & OpenPage
export type TabOptions = {
  size?: Size
  theme?: 'light' | 'dark'
  account?: Account
  /** For a test that changes its page for good, with a clock, another size or handlers of events. */
  isSeparate?: boolean
}

/** Opens a page for one test, without the storage and routes of earlier ones. */
export async function openTab(browser: Browser, service: Service, options: TabOptions = {}): Promise<Tab> {
  const { size = 'desktop', theme = 'light', account, isSeparate = false } = options
  const pages = isSeparate ? undefined : keptPages(service, `${size} ${theme}`)
  const opened = pages?.pop() ?? (await openPage(browser, service, size, theme))
  const { page, context, problems } = opened
  await resetStorage(page, service, account)
  problems.length = 0
  const keep = async () => {
    await Promise.all(context.pages().map((each) => each !== page && each.close()))
    await page.unrouteAll({ behavior: 'ignoreErrors' })
    await page.goto('about:blank')
    pages?.push(opened)
  }
  return { ...opened, [Symbol.asyncDispose]: () => (pages && !page.isClosed() ? keep() : context.close()) }
}

function keptPages({ pages }: Service, key: string): OpenPage[] | undefined {
  if (pages && !pages.has(key)) pages.set(key, [])
  return pages?.get(key)
}

async function openPage(browser: Browser, service: Service, size: Size, theme: 'light' | 'dark'): Promise<OpenPage> {
  const context = await browser.newContext({
    baseURL: service.url,
    colorScheme: theme,
    // Moving elements cannot be clicked or measured reliably.
    reducedMotion: 'reduce',
    ...views[size],
  })
  context.setDefaultTimeout(waitMsMax)
  const page = await context.newPage()
  const problems: string[] = []
  page.on('console', (message) => {
    // The app shows rejected requests to the user; the browser logs them as well.
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource'))
      problems.push(message.text())
  })
  page.on('pageerror', (error) => problems.push(error.message))
  return { page, context, problems }
}

/**
 * Stores nothing but a session, which skips the sign-in page. In the page of the test, because the option
 * `storageState` of a context opens another page for it, in a process of its own.
 */
async function resetStorage(page: Page, service: Service, account: Account | undefined): Promise<void> {
  const name = `waxwing.session:${new URL(service.url).pathname}`
  const session = account && JSON.stringify({ token: account.session, expiresAt: '', email: account.email })
  await page.route(service.url, (route) => route.fulfill({ contentType: 'text/html', body: '' }))
  await page.goto(service.url)
  await page.evaluate(`
    localStorage.clear()
    sessionStorage.clear()
    ${session ? `localStorage.setItem(${JSON.stringify(name)}, ${JSON.stringify(session)})` : ''}`)
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

/** Chooses an option of the select field whose label begins with `field`. */
export async function choose(
  page: Page,
  field: string,
  option: string | RegExp,
  within: Page | Locator = page,
): Promise<void> {
  await within.getByRole('combobox', { name: new RegExp(`^${field}`) }).click()
  await page.getByRole('option', { name: option }).click()
  await page.keyboard.press('Escape')
}

/** Chooses an entry of the menu “More actions”. */
export async function chooseAction(page: Page, action: string): Promise<void> {
  await page.getByRole('button', { name: 'More actions', exact: true }).click()
  await page.getByRole('menuitem', { name: action }).click()
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
