import { lookup } from 'node:dns/promises'
import { accessSync, constants, existsSync, statfsSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { openRelay } from '@waxwing/smtp-client'
import { readSmtpUrl } from '../../delivery/delivery.ts'
import { type Config, findOutdatedSettings, findUnknownSettings, readSettings } from '../../platform/config/config.ts'
import { describeSending } from '../../platform/config/sending-processes.ts'
import { privateTargetWarning } from '../../platform/egress/private-targets.ts'
import { hostOf } from '../../platform/values/domain.ts'
import { liveProblems } from '../sending-status/going-live.ts'
import type { Call } from './call.ts'
import { checkSettings } from './check-settings.ts'
import { checkBounces } from './doctor-bounces.ts'
import { checkDatabase } from './doctor-database.ts'
import { checkImages } from './doctor-images.ts'
import { checkSubmission } from './doctor-submission.ts'
import { bad, type Finding, good, note } from './finding.ts'

const freeBytesMin = 1024 ** 3
/** Some relays delay the greeting for a few seconds. */
const answerWithinMs = 10_000

/** Checks the environment of the service and prints what to do about each problem. Returns 1 if there are problems. */
export async function doctor({ sources }: Call): Promise<number> {
  const config = readSettings(sources)
  let wrong = 0
  let notes = 0
  for await (const { check, ok, message, note: isNote } of findings(config, [
    ...findUnknownSettings(sources),
    ...findOutdatedSettings(sources),
  ])) {
    if (!ok) wrong++
    if (isNote) notes++
    process.stdout.write(`${ok ? (isNote ? 'note' : 'ok  ') : 'BAD '} ${check.padEnd(11)} ${message}\n`)
  }
  const right = notes === 0 ? 'No problems found.' : 'No problems found. Read the notes before going live.'
  process.stdout.write(`\n${wrong === 0 ? right : `${wrong} ${wrong === 1 ? 'problem' : 'problems'} found.`}\n`)
  return wrong === 0 ? 0 : 1
}

async function* findings(config: Config, remarks: string[]): AsyncGenerator<Finding> {
  yield nodeVersion(process.version)
  yield disk(config.DATA_DIR)
  yield settings(config)
  for (const message of remarks) yield note('Settings', message)
  const used = yield* checkDatabase(config)
  yield await relay(config.SMTP_URL)
  if (config.SMTP_URL) yield { check: 'Processes', ok: true, message: describeSending(config) }
  yield await baseUrl(used.BASE_URL)
  yield* goingLive(used)
  yield* privateTargets(config)
  yield* checkBounces(used)
  yield* checkSubmission(config)
  const images = await checkImages(config)
  if (images) yield images
}

/** Versions with an odd number are supported for months only, and 20 ended in April 2026. */
export function nodeVersion(version: string): Finding {
  const [major = 0, minor = 0] = version.slice(1).split('.').map(Number)
  if (major < 20 || (major === 20 && minor < 19))
    return bad('Node', `${version}: install Node.js 24, or at least 20.19`)
  const isSupported = major >= 22 && major % 2 === 0
  return isSupported
    ? good('Node', version)
    : note('Node', `${version} gets no security fixes any more: install Node.js 24`)
}

/** A directory that does not exist yet is checked where it would be created. */
function disk(dataDir: string): Finding {
  let folder = resolve(dataDir)
  while (!existsSync(folder)) folder = dirname(folder)
  try {
    accessSync(folder, constants.W_OK)
    const { bavail, bsize } = statfsSync(folder)
    const free = `${((bavail * bsize) / 1024 ** 3).toFixed(1)} GiB free in ${folder}`
    return bavail * bsize >= freeBytesMin ? good('Disk', free) : bad('Disk', `${free}: free up disk space`)
  } catch (error) {
    return bad('Disk', `${(error as Error).message}: set DATA_DIR to a writable directory`)
  }
}

/** Checks the files and URLs in the settings, as the service does at startup. */
const settings = (config: Config) => checked('Settings', 'valid', () => checkSettings(config))

function checked(check: string, message: string, verify: () => void): Finding {
  try {
    verify()
    return good(check, message)
  } catch (error) {
    return bad(check, (error as Error).message)
  }
}

/** Authenticates like the service, because a relay that responds may still reject every email. */
async function relay(url: string | undefined): Promise<Finding> {
  if (!url) return good('Mail server', 'not configured: emails are kept in the built-in inbox')
  const read = checked('Mail server', '', () => readSmtpUrl(url))
  if (!read.ok) return read
  const limits = { connectMs: answerWithinMs, greetingMs: answerWithinMs, commandMs: answerWithinMs }
  const transport = openRelay(url, { limits })
  const state = await transport.check()
  await transport.close()
  return state.kind === 'up'
    ? good('Mail server', `${new URL(url).host} accepts email`)
    : bad('Mail server', `${state.reason}: check SMTP_URL and the firewall`)
}

async function baseUrl(url: string): Promise<Finding> {
  const hostname = hostOf(new URL(url))
  const known = await lookup(hostname).catch(() => undefined)
  return known
    ? good('BASE_URL', `${url} (${known.address})`)
    : bad('BASE_URL', `${hostname} does not resolve: links in emails would not work`)
}

/** Skipped if the settings are invalid, which is reported separately. */
function* goingLive(config: Config): Generator<Finding> {
  if (config.SMTP_URL === undefined || !settings(config).ok) return
  const problems = liveProblems(config, 'smtp')
  if (problems.length === 0) yield good('Going live', 'links and sender can be used')
  for (const { severity, message } of problems) yield (severity === 'hint' ? note : bad)('Going live', message)
}

/** Only a note even if others can create webhooks, because a private network may need it. */
function* privateTargets(config: Config): Generator<Finding> {
  const warning = privateTargetWarning(config)
  if (warning) yield note('Webhooks', warning.message)
}
