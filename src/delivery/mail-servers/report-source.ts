import type { Reader } from '../../platform/db/db.ts'
import type { SecretBox } from '../../platform/secrets/secrets.ts'
import type { MailServerKey } from './mail-server.ts'
import { findMailServer } from './mail-servers.sql.ts'
import type { ReportProvider } from './preset.ts'
import { findPreset } from './presets.ts'

/** Who reports bounces of a mail server, and with which key, password or topic its requests are verified. */
export type ReportSource = { provider: ReportProvider; secret: string | undefined }

/** Returns undefined if the mail server does not exist, or its provider has no reports that are understood. */
export async function findReportSource(
  db: Reader,
  box: SecretBox,
  { organizationId, id }: MailServerKey,
): Promise<ReportSource | undefined> {
  const server = await findMailServer(db, organizationId, id)
  const provider = server && findPreset(server.preset)?.provider
  if (!provider) return undefined
  if (!server.webhookSecret) return { provider, secret: undefined }
  const secret = box.open(server.webhookSecret)
  // Not without verification: the signature was asked for.
  return secret === undefined ? undefined : { provider, secret }
}
