import { lookup } from 'node:dns/promises'
import { accessSync, constants, mkdirSync, statfsSync } from 'node:fs'
import { openRelay } from '@waxwing/smtp-client'
import { type Config, readConfig, readEnvironment, readUnknownSettings } from '../config/config.ts'
import { missingPrivilege } from '../db/connect-faults.ts'
import { isMigrated } from '../db/migrate.ts'
import { readSmtpUrl } from '../mail/smtp-url.ts'
import { checkSettings } from '../parts.ts'
import { openLog } from '../runtime/log.ts'
import { liveProblems } from '../sending-status/going-live.ts'
import { privateTargetWarning } from '../webhooks/private-targets.ts'
import { databaseOf, readSecrets } from './run.ts'

/** A note is nothing wrong, but may become so. */
type Finding = { what: string; ok: boolean; says: string; note?: boolean }

const freeBytesMin = 1024 ** 3
const clockDriftMaxSeconds = 5
/** Relays that make strangers wait before the greeting do so for a few seconds. */
const answerWithinMs = 10_000

/** Looks at everything the service stands on, and says what to do about what is wrong. */
export async function doctor(): Promise<number> {
  const config = readConfig(readEnvironment())
  let wrong = 0
  let notes = 0
  for await (const { what, ok, says, note } of findings(config)) {
    if (!ok) wrong++
    if (note) notes++
    process.stdout.write(`${ok ? (note ? 'note' : 'ok  ') : 'BAD '} ${what.padEnd(10)} ${says}\n`)
  }
  const right = notes === 0 ? 'Everything looks right.' : 'Nothing is broken. Read the notes before going live.'
  process.stdout.write(`\n${wrong === 0 ? right : `${wrong} to look at.`}\n`)
  return wrong === 0 ? 0 : 1
}

async function* findings(config: Config): AsyncGenerator<Finding> {
  yield nodeVersion()
  yield disk(config.DATA_DIR)
  yield settings(config)
  for (const says of readUnknownSettings()) yield { what: 'Settings', ok: true, says, note: true }
  yield* database(config)
  yield await relay(config.SMTP_URL)
  yield await baseUrl(config.BASE_URL)
  yield* goingLive(config)
  yield* privateTargets(config)
  yield appSecret(config)
}

function nodeVersion(): Finding {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  const ok = major > 20 || (major === 20 && minor >= 19)
  return { what: 'Node', ok, says: ok ? process.version : `${process.version}: install 20.19 or newer` }
}

function disk(folder: string): Finding {
  try {
    mkdirSync(folder, { recursive: true })
    accessSync(folder, constants.W_OK)
    const { bavail, bsize } = statfsSync(folder)
    const free = `${((bavail * bsize) / 1024 ** 3).toFixed(1)} GiB free in ${folder}`
    return bavail * bsize >= freeBytesMin
      ? { what: 'Disk', ok: true, says: free }
      : { what: 'Disk', ok: false, says: `${free}: make room` }
  } catch (error) {
    return { what: 'Disk', ok: false, says: `${(error as Error).message}: set DATA_DIR to a folder you can write to` }
  }
}

async function* database(config: Config): AsyncGenerator<Finding> {
  const opened = await databaseOf(config, await openLog('silent'), { orRunning: true }).catch((error: Error) => error)
  if (opened instanceof Error) {
    yield { what: 'Database', ok: false, says: opened.message }
    return
  }
  try {
    const migrated = await isMigrated(opened.db).catch((error: unknown) => missingPrivilege(error) ?? false)
    yield migrated instanceof Error
      ? { what: 'Database', ok: false, says: migrated.message }
      : {
          what: 'Database',
          ok: true,
          says: `${opened.description}, ${migrated ? 'migrated' : 'to be migrated at the next start'}`,
        }
    const [row] = await opened.db<{
      drift: number
    }>`select abs(extract(epoch from clock_timestamp()) - ${Date.now() / 1000})::float8 as drift`
    const ok = row!.drift <= clockDriftMaxSeconds
    yield {
      what: 'Clock',
      ok,
      says: ok
        ? 'agrees with the database’s'
        : `differs from the database’s by ${Math.round(row!.drift)} s: set both by NTP`,
    }
  } finally {
    await opened.close()
  }
}

/** Files and addresses that the settings name, as the service looks at them before it starts. */
const settings = (config: Config) => looked('Settings', 'what they name can be used', () => checkSettings(config))

function looked(what: string, says: string, look: () => void): Finding {
  try {
    look()
    return { what, ok: true, says }
  } catch (error) {
    return { what, ok: false, says: (error as Error).message }
  }
}

/** Signs in as the service would: a relay that only answers may still refuse every mail. */
async function relay(url: string | undefined): Promise<Finding> {
  if (!url) return { what: 'Relay', ok: true, says: 'none set: mail stays in the built-in inbox' }
  const read = looked('Relay', '', () => readSmtpUrl(url))
  if (!read.ok) return read
  const limits = { connectMs: answerWithinMs, greetingMs: answerWithinMs, commandMs: answerWithinMs }
  const transport = openRelay(url, { limits })
  const state = await transport.check()
  await transport.close()
  return state.kind === 'up'
    ? { what: 'Relay', ok: true, says: `${new URL(url).host} takes mail from us` }
    : { what: 'Relay', ok: false, says: `${state.reason}: check SMTP_URL and the firewall` }
}

async function baseUrl(url: string): Promise<Finding> {
  // A URL has IPv6 addresses in brackets, and nothing else knows them so.
  const hostname = new URL(url).hostname.replace(/^\[(.*)\]$/, '$1')
  const known = await lookup(hostname).catch(() => undefined)
  return known
    ? { what: 'BASE_URL', ok: true, says: `${url} (${known.address})` }
    : { what: 'BASE_URL', ok: false, says: `${hostname} does not resolve: links in mail would lead nowhere` }
}

/** Settings that cannot be read are told already. */
function* goingLive(config: Config): Generator<Finding> {
  if (config.SMTP_URL === undefined || !settings(config).ok) return
  const problems = liveProblems(config)
  if (problems.length === 0) yield { what: 'Going live', ok: true, says: 'links and sender are good for other people' }
  for (const { severity, message: says } of problems) {
    const note = severity === 'hint'
    yield { what: 'Going live', ok: note, says, note }
  }
}

/** A note also where others can create webhooks: a network of one's own may need it. */
function* privateTargets(config: Config): Generator<Finding> {
  const warning = privateTargetWarning(config)
  if (warning) yield { what: 'Webhooks', ok: true, says: warning.message, note: true }
}

function appSecret(config: Config): Finding {
  const shared = config.DATABASE_URL !== undefined && config.APP_SECRET === undefined
  const says = shared ? 'from DATA_DIR; set APP_SECRET when more than one machine uses this database' : 'set'
  return looked('Secret', says, () => readSecrets(config))
}
