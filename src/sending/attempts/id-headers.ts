import type { ReportProvider } from '../../delivery/delivery.ts'
import type { Config } from '../../platform/config/config.ts'

/** The name under which providers store the signed id of a message and return it in their events. */
export const idName = 'waxwing-id'
export const idHeader = 'X-Waxwing-Id'

type ProviderSettings = Pick<
  Config,
  'PROVIDER_SES_TOPICS' | 'PROVIDER_SENDGRID_KEY' | 'PROVIDER_MAILGUN_KEY' | 'PROVIDER_POSTMARK_TOKEN'
>

const headersOf: Record<ReportProvider, (id: string) => Record<string, string>> = {
  ses: (id) => ({ 'X-SES-MESSAGE-TAGS': `${idName}=${id}` }),
  sendgrid: (id) => ({ 'X-SMTPAPI': JSON.stringify({ unique_args: { [idName]: id } }) }),
  mailgun: (id) => ({ 'X-Mailgun-Variables': JSON.stringify({ [idName]: id }) }),
  postmark: (id) => ({ [`X-PM-Metadata-${idName}`]: id }),
}
const providers = Object.keys(headersOf) as ReportProvider[]

export type IdHeaders = (signedId: string) => Record<string, string>

/**
 * Returns a function of the providers through which an email may be sent. It returns the headers by which they, and those in
 * the settings, identify a message, or undefined if there is no provider.
 */
export function createIdHeaders(config: ProviderSettings): (more: readonly ReportProvider[]) => IdHeaders | undefined {
  const isConfigured: Record<ReportProvider, unknown> = {
    ses: config.PROVIDER_SES_TOPICS,
    sendgrid: config.PROVIDER_SENDGRID_KEY,
    mailgun: config.PROVIDER_MAILGUN_KEY,
    postmark: config.PROVIDER_POSTMARK_TOKEN,
  }
  const configured = providers.filter((provider) => isConfigured[provider])
  const configuredHeaders = configured.length > 0 ? combined(configured) : undefined
  return (more) => {
    if (more.length === 0) return configuredHeaders
    return combined(providers.filter((provider) => isConfigured[provider] || more.includes(provider)))
  }
}

const combined =
  (chosen: readonly ReportProvider[]): IdHeaders =>
  (id) => ({ [idHeader]: id, ...Object.assign({}, ...chosen.map((provider) => headersOf[provider](id))) })
