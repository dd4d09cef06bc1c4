import { existsSync } from 'node:fs'
import { isLoopback } from '@waxwing/smtp-client'
import { SetupFault } from '../values/errors.ts'
import { type Environment, parseEnvFile, readSettingFile, unknownSettings } from './env-file.ts'
import { removedSettings, type Setting, settings } from './settings.ts'

type Parsed = { readonly [Name in keyof typeof settings]: (typeof settings)[Name] extends Setting<infer V> ? V : never }
type Completed = 'BASE_URL' | 'REQUIRE_VERIFIED_DOMAINS' | 'SUBMISSION_HOST'
export type Config = Omit<Parsed, Completed> & {
  readonly BASE_URL: string
  readonly REQUIRE_VERIFIED_DOMAINS: boolean
  readonly SUBMISSION_HOST: string
  /** Whether BASE_URL is set, so that it cannot be changed in the web app. */
  readonly isBaseUrlSet: boolean
}
export type SettingName = keyof typeof settings

/** Lists all problems, each with the name of its setting. */
export class ConfigError extends SetupFault {
  constructor(faults: string[]) {
    super(`Invalid configuration:\n${faults.map((fault) => `  - ${fault}`).join('\n')}`)
    this.name = 'ConfigError'
  }
}

export { type Environment, settings }

export function readConfig(environment: Environment): Config {
  const faults: string[] = []
  const values: Record<string, unknown> = {}
  for (const [name, { fallback, parse, formerly }] of Object.entries(settings) as [SettingName, Setting<unknown>][]) {
    const value = valueIn(environment, name, formerly) ?? fallback
    try {
      values[name] = value === undefined ? undefined : parse(value)
    } catch (error) {
      faults.push(`${name}: ${(error as Error).message}`)
    }
  }
  values.SUBMISSION_HOST ??= values.SUBMISSION_TLS_CERT_FILE === undefined ? '127.0.0.1' : '0.0.0.0'
  faults.push(...partialGroups(values), ...unencryptedSubmission(values))
  if (faults.length > 0) throw new ConfigError(faults)
  values.isBaseUrlSet = values.BASE_URL !== undefined
  values.BASE_URL ??= `http://localhost:${values.PORT}`
  values.REQUIRE_VERIFIED_DOMAINS ??= values.SIGNUP === 'open'
  return Object.freeze(values) as unknown as Config
}

/** An empty value counts as unset, as in `SMTP_URL= npm start`. */
const valueIn = (environment: Environment, name: string, formerly: string | undefined): string | undefined =>
  environment[name]?.trim() || (formerly && environment[formerly]?.trim()) || undefined

/** Settings that must be set together. */
const groups: SettingName[][] = [
  ['DKIM_DOMAIN', 'DKIM_SELECTOR', 'DKIM_PRIVATE_KEY_FILE'],
  ['BOUNCE_SMTP_PORT', 'BOUNCE_DOMAIN'],
  ['BOUNCE_TLS_CERT_FILE', 'BOUNCE_TLS_KEY_FILE'],
  ['SUBMISSION_TLS_CERT_FILE', 'SUBMISSION_TLS_KEY_FILE'],
  ['IMAGES_S3_ENDPOINT', 'IMAGES_S3_BUCKET', 'IMAGES_S3_ACCESS_KEY_ID', 'IMAGES_S3_SECRET_ACCESS_KEY'],
]

function partialGroups(values: Record<string, unknown>): string[] {
  return groups.flatMap((names) => {
    const missing = names.filter((name) => values[name] === undefined)
    if (missing.length === 0 || missing.length === names.length) return []
    return [
      `${missing.join(' and ')}: required when ${names.filter((name) => !missing.includes(name)).join(' and ')} is set`,
    ]
  })
}

/** Without a certificate, API keys would be sent over the network unencrypted. */
function unencryptedSubmission(values: Record<string, unknown>): string[] {
  if (values.SUBMISSION_TLS_CERT_FILE !== undefined) return []
  const needed = 'set SUBMISSION_TLS_CERT_FILE and SUBMISSION_TLS_KEY_FILE'
  return [
    ...(values.SUBMISSION_TLS_PORT === undefined ? [] : [`SUBMISSION_TLS_PORT: requires a certificate; ${needed}`]),
    ...(isLoopback(String(values.SUBMISSION_HOST))
      ? []
      : [`SUBMISSION_HOST: must be an address of this machine such as 127.0.0.1, or ${needed}`]),
  ]
}

/** The settings of a file and those of the process environment, which take precedence. */
export type SettingSources = { fileName: string; file: Environment; environment: Environment }

/** Reads the file of --env-file, or else `.env` if there is one. Throws `SetupFault` if it cannot be read. */
export function readSources(envFile?: string): SettingSources {
  const fileName = envFile ?? '.env'
  const isMissing = envFile === undefined && !existsSync(fileName)
  const file = isMissing
    ? {}
    : parseEnvFile(readSettingFile(envFile === undefined ? 'Settings' : '--env-file', fileName))
  return { fileName, file, environment: process.env }
}

export const readSettings = ({ file, environment }: Omit<SettingSources, 'fileName'>): Config =>
  readConfig({ ...file, ...environment })

/** Checks only the file, because the process environment contains many unrelated names. */
export const findUnknownSettings = ({ fileName, file }: SettingSources): string[] =>
  unknownSettings(fileName, file, [settings, newNames, removedSettings].flatMap(Object.keys))

/** By the former name. */
const newNames: Record<string, string> = Object.fromEntries(
  (Object.entries(settings) as [SettingName, Setting<unknown>][]).flatMap(([name, { formerly }]) =>
    formerly ? [[formerly, name]] : [],
  ),
)

/** Returns a sentence about each setting that is set by its former name, or was removed. */
export function findOutdatedSettings({ file, environment }: Pick<SettingSources, 'file' | 'environment'>): string[] {
  const isSet = (name: string) => valueIn({ ...file, ...environment }, name, undefined) !== undefined
  const entriesOf = (names: Record<string, string>) => Object.entries(names).filter(([name]) => isSet(name))
  return [
    ...entriesOf(newNames).map(([formerly, name]) => `${formerly} is deprecated: call it ${name}.`),
    ...entriesOf(removedSettings).map(([name, now]) => `${name} is not used any more: ${now}. Remove it.`),
  ]
}

/** Returns the rows that `waxwing config` prints: each setting with its value, source and meaning. */
export function describeConfig(config: Config, { fileName, file, environment }: SettingSources) {
  const rows = Object.entries(settings) as [SettingName, Setting<unknown>][]
  return rows.map(([name, { meaning, secret: hidden, formerly }]) => {
    const value = config[name]
    const shown =
      value === undefined ? '(unset)' : hidden ? '********' : Array.isArray(value) ? value.join(',') : String(value)
    const isInEnvironment = [name, formerly].some((each) => each !== undefined && environment[each] !== undefined)
    const isSet = valueIn({ ...file, ...environment }, name, formerly) !== undefined
    const source = !isSet ? 'default' : isInEnvironment ? 'environment' : fileName
    return { name, value: shown, source, meaning }
  })
}
