import type { BrowserContext, Page } from 'playwright-core'

/** `problems` collects the errors on its console. */
export type OpenPage = { page: Page; context: BrowserContext; problems: string[] }
