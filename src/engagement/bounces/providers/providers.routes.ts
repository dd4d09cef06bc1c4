import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { Config } from '../../../platform/config/config.ts'
import { answers, ok } from '../../../platform/http/envelope.ts'
import { largeBodyBytesMax } from '../../../platform/http/policies.ts'
import { Refusal } from '../../../platform/values/errors.ts'
import { fetchText } from './fetch-text.ts'
import { type ClaimSignature, mailgunReports } from './mailgun.ts'
import { postmarkReports } from './postmark.ts'
import type { ReadReports } from './provider.ts'
import { bodyErrors, bytesOf, ReceivedReports, type ReceiveParts, receive } from './receive.ts'
import { sendgridReports } from './sendgrid.ts'
import { sesReports } from './ses.ts'
import { claimSignature } from './signatures.sql.ts'

type Provider = {
  title: string
  operationId: string
  /** The setting that enables it. */
  setting: string
  /** How requests are authenticated, for the API reference. */
  proof: string
  read: ReadReports | undefined
}

/** The supported providers; those that are not configured respond with 404. */
function providersOf(config: Config, claim: ClaimSignature): Record<string, Provider> {
  const {
    PROVIDER_SES_TOPICS: topics,
    PROVIDER_SENDGRID_KEY: sendgrid,
    PROVIDER_MAILGUN_KEY: mailgun,
    PROVIDER_POSTMARK_TOKEN: postmark,
  } = config
  return {
    ses: {
      title: 'Amazon SES',
      operationId: 'receiveSesEvents',
      setting: 'PROVIDER_SES_TOPICS',
      proof: 'The signature of Amazon SNS and the topic are verified.',
      read: topics && sesReports({ topics, fetchText }),
    },
    sendgrid: {
      title: 'SendGrid',
      operationId: 'receiveSendgridEvents',
      setting: 'PROVIDER_SENDGRID_KEY',
      proof: 'The signature of the event webhook is verified.',
      read: sendgrid ? sendgridReports(sendgrid) : undefined,
    },
    mailgun: {
      title: 'Mailgun',
      operationId: 'receiveMailgunEvents',
      setting: 'PROVIDER_MAILGUN_KEY',
      proof: 'The signature is verified and accepted once.',
      read: mailgun ? mailgunReports(mailgun, claim) : undefined,
    },
    postmark: {
      title: 'Postmark',
      operationId: 'receivePostmarkEvents',
      setting: 'PROVIDER_POSTMARK_TOKEN',
      proof: 'The password of the webhook URL is verified.',
      read: postmark ? postmarkReports(postmark) : undefined,
    },
  }
}

/** Returns the names of the configured providers. */
export const providerTitles = (config: Config): string[] =>
  Object.values(providersOf(config, async () => false)).flatMap(({ title, read }) => (read ? [title] : []))

export type ProviderParts = ReceiveParts & { config: Config }

/** Receives bounces and complaints from providers, each authenticated by the means of the provider. */
export function providerRoutes(parts: ProviderParts): FastifyPluginAsyncTypebox {
  const providers = providersOf(parts.config, (use) => claimSignature(parts.db.statement, use))
  return async (server) => {
    // Signatures cover the raw bytes, and SNS sends its JSON as plain text.
    server.removeAllContentTypeParsers()
    server.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
    for (const [name, { title, operationId, setting, proof, read }] of Object.entries(providers)) {
      const schema = {
        tags: ['Providers'],
        operationId,
        summary: `Receive bounces and complaints from ${title}`,
        description: `Called by ${title}, not by you. Enabled by the setting \`${setting}\`. ${proof} Reports about email that was not sent by this installation are ignored. \`received\` counts the bounces and complaints in the request, \`recorded\` those that led to a new event.`,
        errors: {
          unauthorized: `The request does not come from ${title}.`,
          not_found: `${title} is not configured.`,
          ...bodyErrors,
        },
        response: answers(ReceivedReports),
      }
      server.post(`/providers/${name}/events`, {
        bodyLimit: largeBodyBytesMax,
        config: { permission: 'public' },
        schema,
        handler: async (request) => {
          if (!read) throw new Refusal('not_found', `${title} is not configured.`)
          const { headers, body } = request
          return ok(await receive(parts, () => read({ headers, body: bytesOf(body), turns: server.turnsOf(request) })))
        },
      })
    }
  }
}
