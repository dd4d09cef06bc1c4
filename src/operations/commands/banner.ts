import { hasUsers } from '../../accounts/accounts.ts'
import type { Role } from '../../platform/area.ts'
import {
  type Config,
  findOutdatedSettings,
  findUnknownSettings,
  type SettingSources,
} from '../../platform/config/config.ts'
import { version } from '../../platform/config/package-root.ts'
import { describeSending } from '../../platform/config/sending-processes.ts'
import type { Database } from '../../platform/db/connect.ts'
import { type SealedCount, undecryptableWarning } from '../../platform/db/sealed.ts'
import { privateTargetWarning } from '../../platform/egress/private-targets.ts'
import { withPublicAddress } from '../../platform/installation/public-address.ts'
import { dayMs } from '../../platform/values/durations.ts'
import type { Demo } from '../demo/demo.ts'
import { liveProblems } from '../sending-status/going-live.ts'
import { describePause, findPause } from '../sending-status/sending-pause.ts'

/** Returns the summary printed after startup. */
export async function banner({
  config: given,
  sources,
  database,
  roles,
  demo,
  sealed,
}: {
  config: Config
  sources: SettingSources
  database: Pick<Database, 'db' | 'description' | 'note'>
  roles: readonly Role[]
  demo?: Demo | undefined
  sealed: readonly SealedCount[]
}): Promise<string> {
  const config = await withPublicAddress(database.db, given)
  const sending = config.SMTP_URL
    ? `through ${new URL(config.SMTP_URL).host}`
    : 'kept in the built-in inbox (set SMTP_URL to send it)'
  const targets = privateTargetWarning(config)
  const pause = await findPause(database.db)
  const lines = [
    `Waxwing ${version} is ready.`,
    ...(roles.includes('serve') ? await webLines(config, database) : []),
    ...metricsLines(config, roles),
    ...(demo ? demoLines(demo) : []),
    `  Database   ${database.description}`,
    ...(database.note ? [`             ${database.note}`] : []),
    `  Mail       ${sending}`,
    ...(roles.includes('work') && config.SMTP_URL ? [`             ${describeSending(config)}`] : []),
    ...(roles.includes('serve') ? submissionLines(config) : []),
    ...(pause ? [`  Attention  ${describePause(pause)}`] : []),
    ...sealed
      .filter(({ undecryptable }) => undecryptable > 0)
      .map((count) => `  Attention  ${undecryptableWarning(count)}`),
    ...[...findUnknownSettings(sources), ...findOutdatedSettings(sources)].map((line) => `  Note       ${line}`),
    ...(targets ? [`  ${targets.isExposed ? 'Attention ' : 'Note      '} ${targets.message}`] : []),
    ...(config.SMTP_URL === undefined ? [] : liveProblems(config, 'smtp')).map(
      ({ severity, message }) => `  ${severity === 'fault' ? 'Attention ' : 'Note      '} ${message}`,
    ),
  ]
  return `\n${lines.join('\n')}\n\n`
}

const webLines = async ({ BASE_URL: url }: Config, { db }: Pick<Database, 'db'>): Promise<string[]> => [
  `  Web app    ${url}`,
  ...((await hasUsers(db)) ? [] : ['  Get started: open the web app and create the first account']),
  `  API docs   ${url}/docs`,
]

function submissionLines({ SUBMISSION_HOST: host, SUBMISSION_PORT: port, SUBMISSION_TLS_PORT: tlsPort }: Config) {
  const ports = [port, tlsPort].filter((each) => each !== undefined)
  return ports.length > 0 ? [`  Submission SMTP on ${host} port ${ports.join(' and ')}`] : []
}

/** From this age on, the newest figures of the demo are missing in reports of the last days. */
const oldDemoMs = 3 * dayMs

const demoLines = ({ account: { email, password }, createdAt }: Demo): string[] => [
  `  Demo       sign in as ${email} with the password ${password}`,
  Date.now() - +createdAt < oldDemoMs
    ? '             Delete its data with `waxwing demo remove`.'
    : `             Its data ends on ${createdAt.toISOString().slice(0, 10)}. For newer data, run \`waxwing demo remove\` and start again.`,
]

function metricsLines(config: Config, roles: readonly Role[]): string[] {
  const workPort = roles.includes('serve') ? undefined : config.WORK_PORT
  const line = (host: string, port: number) => [`  Metrics    http://${host}:${port}/metrics`]
  if (config.METRICS_PORT !== undefined) return line(config.METRICS_HOST, config.METRICS_PORT)
  return workPort === undefined ? [] : line(config.HOST, workPort)
}
