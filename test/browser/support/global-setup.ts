import { buildWebWhenStale } from '../../../scripts/web-build.ts'
import { checkFonts, unpackBrowser } from './chromium.ts'

/** Runs once before all browser tests: builds the web app, unpacks the browser and checks that it can render text. */
export async function setup(): Promise<void> {
  await buildWebWhenStale()
  await unpackBrowser()
  await checkFonts()
}
