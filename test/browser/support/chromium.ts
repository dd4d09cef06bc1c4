import { mkdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { type Browser, chromium } from 'playwright-core'

const home = fileURLToPath(new URL('../../../node_modules/.cache/chromium', import.meta.url))

/** The browser that came with the packages. Where the system has no libnss3 it brings that and its fonts along. */
export async function chromiumPath(): Promise<string> {
  process.env.AWS_EXECUTION_ENV ??= 'AWS_Lambda_nodejs20.x'
  // It unpacks into the temporary directory, under names that another user of this machine may have taken.
  mkdirSync(home, { recursive: true })
  const { TMPDIR } = process.env
  process.env.TMPDIR = home
  try {
    const { default: packed } = await import('@sparticuz/chromium')
    return await packed.executablePath()
  } finally {
    if (TMPDIR === undefined) delete process.env.TMPDIR
    else process.env.TMPDIR = TMPDIR
  }
}

export async function launchBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath: await chromiumPath(), args: ['--no-sandbox'] })
}
