import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import type { Config } from '../../config/config.ts'
import type { Db } from '../../db/db.ts'
import type { EventRecorder } from '../../events/record.ts'
import { answers, ok } from '../../http/envelope.ts'
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

type Provider = { title: string; read: ReadReports | undefined }

/** The supported providers; those that are not configured respond with 404. */
function providersOf(config: Config, claim: ClaimSignature): Record<string, Provider> {
  const {
    PROVIDER_SES_TOPICS: topics,
    PROVIDER_SENDGRID_KEY: sendgrid,
    PROVIDER_MAILGUN_KEY: mailgun,
    PROVIDER_POSTMARK_TOKEN: postmark,
  } = config
  return {
    ses: { title: 'Amazon SES', read: topics && sesReports({ topics, fetchText }) },
    sendgrid: { title: 'SendGrid', read: sendgrid ? sendgridReports(sendgrid) : undefined },
    mailgun: { title: 'Mailgun', read: mailgun ? mailgunReports(mailgun, claim) : undefined },
    postmark: { title: 'Postmark', read: postmark ? postmarkReports(postmark) : undefined },
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
    for (const [name, { title, read }] of Object.entries(providers)) {
      const schema = {
        tags: ['Providers'],
        summary: `Receive bounces and complaints from ${title}`,
        response: answers(Type.Object({ received: Type.Integer(), recorded: Type.Integer() })),
      }
      server.post(`/providers/${name}/events`, { schema }, async ({ headers, body }) => {
        if (!read) throw new Refusal('not_found', `${title} is not configured.`)
        const reports = await read({ headers, body: Buffer.isBuffer(body) ? body : Buffer.alloc(0) })
        if (reports.length > reportsMax)
          throw new Refusal('payload_too_large', 'Too many events in one request. Send fewer at once.')
        return ok({ received: reports.length, recorded: await record(parts, reports) })
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
