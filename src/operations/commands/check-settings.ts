import { dkimOf, readSmtpUrl } from '../../delivery/delivery.ts'
import { sendgridReports } from '../../engagement/engagement.ts'
import type { Config } from '../../platform/config/config.ts'
import { bounceTlsOf, submissionTlsOf, webhookAuthoritiesOf } from '../../platform/config/setting-files.ts'
import { parseMailFrom } from '../../platform/values/mailbox.ts'

/** Checks the files and URLs in the settings before a database is started. Throws `SetupFault` if one is invalid. */
export function checkSettings(config: Config): void {
  if (config.SMTP_URL) readSmtpUrl(config.SMTP_URL)
  if (config.PROVIDER_SENDGRID_KEY) sendgridReports(config.PROVIDER_SENDGRID_KEY)
  parseMailFrom(config.MAIL_FROM)
  dkimOf(config)
  bounceTlsOf(config)
  submissionTlsOf(config)
  webhookAuthoritiesOf(config)
}
