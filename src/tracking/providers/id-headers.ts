import type { Config } from '../../config/config.ts'

/** The name under which providers store the signed id of a message and return it in their events. */
export const idName = 'waxwing-id'
export const idHeader = 'X-Waxwing-Id'

type ProviderSettings = Pick<
  Config,
  'PROVIDER_SES_TOPICS' | 'PROVIDER_SENDGRID_KEY' | 'PROVIDER_MAILGUN_KEY' | 'PROVIDER_POSTMARK_TOKEN'
>

/**
 * Returns a function that creates the headers by which the configured providers identify a message, or undefined if
 * none is configured.
 */
export function idHeadersFor(config: ProviderSettings): ((signedId: string) => Record<string, string>) | undefined {
  const { PROVIDER_SES_TOPICS, PROVIDER_SENDGRID_KEY, PROVIDER_MAILGUN_KEY, PROVIDER_POSTMARK_TOKEN } = config
  if (!(PROVIDER_SES_TOPICS || PROVIDER_SENDGRID_KEY || PROVIDER_MAILGUN_KEY || PROVIDER_POSTMARK_TOKEN))
    return undefined
  return (id) => ({
    [idHeader]: id,
    ...(PROVIDER_SES_TOPICS && { 'X-SES-MESSAGE-TAGS': `${idName}=${id}` }),
    ...(PROVIDER_SENDGRID_KEY && { 'X-SMTPAPI': JSON.stringify({ unique_args: { [idName]: id } }) }),
    ...(PROVIDER_MAILGUN_KEY && { 'X-Mailgun-Variables': JSON.stringify({ [idName]: id }) }),
    ...(PROVIDER_POSTMARK_TOKEN && { [`X-PM-Metadata-${idName}`]: id }),
  })
}
