import type { Config } from '../config/config.ts'
import { bounceTlsOf, submissionTlsOf, webhookAuthoritiesOf } from '../config/setting-files.ts'
import { dkimOf } from '../mail/dkim.ts'
import { readSmtpUrl } from '../mail/smtp-url.ts'
import { parseMailbox } from '../messages/outgoing.ts'
import { sendgridReports } from '../tracking/providers/sendgrid.ts'

/** Checks the files and URLs in the settings before a database is started. Throws `SetupFault` if one is invalid. */
export function checkSettings(config: Config): void {
  if (config.SMTP_URL) readSmtpUrl(config.SMTP_URL)
  if (config.PROVIDER_SENDGRID_KEY) sendgridReports(config.PROVIDER_SENDGRID_KEY)
  parseMailbox(config.MAIL_FROM)
  dkimOf(config)
  bounceTlsOf(config)
  submissionTlsOf(config)
  webhookAuthoritiesOf(config)
}
