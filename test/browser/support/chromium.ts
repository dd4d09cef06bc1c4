import { type Browser, chromium } from 'playwright-core'

/** The browser that came with the packages. Where the system has no libnss3 it brings that and its fonts along. */
export async function chromiumPath(): Promise<string> {
  process.env.AWS_EXECUTION_ENV ??= 'AWS_Lambda_nodejs20.x'
  const { default: packed } = await import('@sparticuz/chromium')
  return packed.executablePath()
}

export async function launchBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath: await chromiumPath(), args: ['--no-sandbox'] })
}
