import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { type Browser, chromium } from 'playwright-core'
import { packageRoot } from '../../../src/platform/config/package-root.ts'

const { devDependencies } = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8'))
const uid = process.getuid?.() ?? 0
/** By version and user: the package unpacks its binary for the current user only. */
const folderName = `chromium-${devDependencies['@sparticuz/chromium']}-${uid}`
/** The second one serves a user who may not write to the checkout. */
const folders = [join(packageRoot, 'node_modules/.cache', folderName), join(tmpdir(), `waxwing-${folderName}`)]

let shared: Promise<Browser> | undefined

/** Returns the browser of this worker process, which all its tests share. It ends with the process. */
export function sharedBrowser(): Promise<Browser> {
  shared ??= launchBrowser()
  return shared
}

/** Launches the browser from the npm packages. It uses its own libraries and fonts, whatever the system has installed. */
export async function launchBrowser(): Promise<Browser> {
  const folder = await unpackBrowser()
  return chromium.launch({
    executablePath: join(folder, 'chromium'),
    // A page lives for a second or two: compiling its functions for speed takes a fifth more CPU time than it saves.
    args: ['--no-sandbox', '--js-flags=--no-opt --no-maglev'],
    env: {
      ...definedEnvironment(),
      LD_LIBRARY_PATH: join(folder, 'al2023/lib'),
      FONTCONFIG_PATH: folder,
      FONTCONFIG_FILE: join(folder, 'fonts.conf'),
    },
  })
}

/** Returns the folder with the unpacked browser, unpacking it on the first call. Concurrent calls and runs are safe. */
export async function unpackBrowser(): Promise<string> {
  const ready = folders.find(isOwnFolder)
  if (ready) return ready
  for (const folder of folders) {
    const scratch = makeScratchBeside(folder)
    if (!scratch) continue
    try {
      await unpackInto(scratch)
      writeFileSync(join(scratch, 'fonts.conf'), fontsConf(folder))
      renameSync(scratch, folder)
    } catch (error) {
      rmSync(scratch, { recursive: true, force: true })
      // Another run unpacked it first.
      if (!isOwnFolder(folder)) throw error
    }
    return folder
  }
  throw new Error(`The browser cannot be unpacked: none of these folders is writable: ${folders.join(', ')}`)
}

const isOwnFolder = (folder: string) => existsSync(folder) && statSync(folder).uid === uid

function makeScratchBeside(folder: string): string | undefined {
  try {
    mkdirSync(dirname(folder), { recursive: true })
    return mkdtempSync(`${folder}.`)
  } catch {
    return undefined
  }
}

/**
 * The package unpacks into the temporary directory and changes the environment of the process that imports it, so it
 * runs in a process of its own. With this variable it also unpacks the libraries that a minimal system lacks.
 */
async function unpackInto(folder: string): Promise<void> {
  const program = `import chromium from '@sparticuz/chromium'; await chromium.executablePath()`
  await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program], {
    cwd: packageRoot,
    env: { ...process.env, TMPDIR: folder, AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs20.x' },
  })
}

/** The file of the package names /tmp/fonts, wherever the fonts are unpacked. */
const fontsConf = (folder: string) => `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <dir>${join(folder, 'fonts')}</dir>
  <cachedir>${join(folder, 'fonts-cache')}</cachedir>
</fontconfig>
`

function definedEnvironment(): Record<string, string> {
  const defined = Object.entries(process.env).filter((entry): entry is [string, string] => entry[1] !== undefined)
  return Object.fromEntries(defined)
}

/** Throws if the browser renders text without width, as it does when it finds no font. */
export async function checkFonts(): Promise<void> {
  const browser = await launchBrowser()
  try {
    const page = await browser.newPage()
    await page.setContent('<span>Text</span>')
    const box = await page.locator('span').boundingBox()
    if (!box?.width) throw new Error(`The browser finds no fonts. Check fonts.conf in ${await unpackBrowser()}.`)
  } finally {
    await browser.close()
  }
}
