import type { Role } from '../app.ts'
import { type Config, readStrayNames } from '../config.ts'
import type { Database } from '../db/connect.ts'
import { liveProblems } from '../messages/going-live.ts'
import { version } from '../root.ts'

/** What a person wants to know after starting it, in a few lines. */
export async function banner({
  config,
  database,
  roles,
}: {
  config: Config
  database: Database
  roles: readonly Role[]
}): Promise<string> {
  const [row] = await database.db<{ any: boolean }>`select exists (select from users) as any`
  const mail = config.SMTP_URL
    ? `through ${new URL(config.SMTP_URL).host}`
    : 'kept in the built-in inbox (set SMTP_URL to send it out)'
  const watched =
    config.WORK_PORT === undefined ? [] : [`  Watch it   http://${config.HOST}:${config.WORK_PORT}/metrics`]
  const lines = [
    `Waxwing ${version} is ready.`,
    ...(roles.includes('serve') ? [`  Web app    ${config.BASE_URL}`] : []),
    ...(roles.includes('serve') && !row!.any ? ['  Begin      open the web app and create the first account'] : []),
    ...(roles.includes('serve') ? [`  API docs   ${config.BASE_URL}/docs`] : []),
    ...(roles.includes('serve') ? [] : watched),
    `  Database   ${database.description}`,
    ...(database.note ? [`             ${database.note}`] : []),
    `  Mail       ${mail}`,
    ...readStrayNames().map((line) => `  Note       ${line}`),
    ...liveProblems(config).map(
      ({ severity, message }) => `  ${severity === 'fault' ? 'Attention ' : 'Note      '} ${message}`,
    ),
  ]
  return `\n${lines.join('\n')}\n\n`
}
