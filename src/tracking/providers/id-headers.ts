import type { Config } from '../../config/config.ts'

/** Under this name providers carry the signed id of a message, and give it back in their events. */
export const idName = 'waxwing-id'
export const idHeader = 'X-Waxwing-Id'

type ProviderSettings = Pick<
  Config,
  'PROVIDER_SES_TOPICS' | 'PROVIDER_SENDGRID_KEY' | 'PROVIDER_MAILGUN_KEY' | 'PROVIDER_POSTMARK_TOKEN'
>

/** The headers by which the providers in use will know a message again; undefined where none is. */
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
