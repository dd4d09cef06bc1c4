import { InvalidSmtpUrl, parseSmtpUrl, type SmtpTarget } from '@waxwing/smtp-client'
import { SetupFault } from '../../platform/values/errors.ts'

/** Parses SMTP_URL. Throws `SetupFault` if it is invalid. */
export function readSmtpUrl(url: string): SmtpTarget {
  try {
    return parseSmtpUrl(url)
  } catch (error) {
    throw error instanceof InvalidSmtpUrl ? new SetupFault(`SMTP_URL ${error.problem}`) : error
  }
}
