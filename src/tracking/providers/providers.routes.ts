import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import type { Config } from '../../config/config.ts'
import type { Db } from '../../db/db.ts'
import type { EventRecorder } from '../../events/record.ts'
import { answers, Named, ok } from '../../http/envelope.ts'
import type { Tokens } from '../../secrets/tokens.ts'
import { Refusal } from '../../values/errors.ts'
import { findReported } from '../correlate.ts'
import { type MessageReport, recordVerdicts } from '../verdicts.ts'
import { fetchText } from './fetch-text.ts'
import { type ClaimSignature, mailgunReports } from './mailgun.ts'
import { postmarkReports } from './postmark.ts'
import type { ProviderReport, ReadReports } from './provider.ts'
import { sendgridReports } from './sendgrid.ts'
import { sesReports } from './ses.ts'
import { claimSignature } from './signatures.sql.ts'

const reportsMax = 10_000

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

export type ProviderParts = { config: Config; db: Db; tokens: Tokens; events: EventRecorder }

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
          payload_too_large: 'The request has more than 10,000 events or more than 1 MiB.',
          invalid_json: 'The body is not valid JSON.',
        },
        response: answers(Named('ReceivedReports', { received: Type.Integer(), recorded: Type.Integer() })),
      }
      server.post(`/providers/${name}/events`, {
        schema,
        handler: async ({ headers, body }) => {
          if (!read) throw new Refusal('not_found', `${title} is not configured.`)
          const reports = await read({ headers, body: Buffer.isBuffer(body) ? body : Buffer.alloc(0) })
          if (reports.length > reportsMax)
            throw new Refusal('payload_too_large', 'Too many events in one request. Send fewer at once.')
          return ok({ received: reports.length, recorded: await record(parts, reports) })
        },
      })
    }
  }
}

async function record(parts: ProviderParts, reports: ProviderReport[]): Promise<number> {
  const { db, tokens } = parts
  const messages = await findReported(
    db,
    tokens,
    reports.map(({ clues }) => clues),
  )
  const matched = reports.flatMap(({ occurredAt, verdict }, index): MessageReport[] => {
    const message = messages[index]
    return message ? [{ message, occurredAt, verdict }] : []
  })
  return recordVerdicts(parts, matched)
}
