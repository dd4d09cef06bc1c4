import { buildWebWhenStale } from '../../../scripts/web-build.ts'
import { chromiumPath } from './chromium.ts'

/** Once for all browser tests: the web app as it would be served, and the browser unpacked. */
export async function setup(): Promise<void> {
  await buildWebWhenStale()
  await chromiumPath()
}
