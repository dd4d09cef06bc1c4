import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { findReportSource, type ReportSource, type WebhookAddresses } from '../../../delivery/delivery.ts'
import { answers, ok } from '../../../platform/http/envelope.ts'
import { largeBodyBytesMax } from '../../../platform/http/policies.ts'
import type { Stage } from '../../../platform/runtime/stage.ts'
import type { SecretBox } from '../../../platform/secrets/secrets.ts'
import { Refusal } from '../../../platform/values/errors.ts'
import { fetchText } from './fetch-text.ts'
import { mailgunReports } from './mailgun.ts'
import { postmarkReports } from './postmark.ts'
import type { ReadReports } from './provider.ts'
import { bodyErrors, bytesOf, ReceivedReports, type ReceiveParts, receive } from './receive.ts'
import { sendgridReports } from './sendgrid.ts'
import { sesReports } from './ses.ts'
import { claimSignature } from './signatures.sql.ts'
import { SnsSignatures } from './sns.ts'

export type ServerReportParts = ReceiveParts & {
  box: SecretBox
  addresses: WebhookAddresses
  reports: Stage
}

/** Receives bounces and complaints of email that was sent through the mail server of an organization. */
export function mailServerReportRoutes(parts: ServerReportParts): FastifyPluginAsyncTypebox {
  const { db, box, addresses, reports } = parts
  const signatures = new SnsSignatures(fetchText)
  const readerOf = ({ provider, secret }: ReportSource): ReadReports => {
    switch (provider) {
      case 'ses':
        return sesReports({ topics: secret?.split(/[\s,]+/), signatures, fetchText })
      case 'sendgrid':
        return sendgridReports(secret)
      case 'mailgun':
        return mailgunReports(secret, (use) => claimSignature(db.statement, use))
      case 'postmark':
        return postmarkReports(secret)
    }
  }
  return async (server) => {
    // Signatures cover the raw bytes, and SNS sends its JSON as plain text.
    server.removeAllContentTypeParsers()
    server.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
    server.post('/providers/mail-servers/:token/events', {
      config: { permission: 'public' },
      bodyLimit: largeBodyBytesMax,
      schema: {
        tags: ['Providers'],
        operationId: 'receiveMailServerEvents',
        summary: 'Receive bounces and complaints from the provider of a mail server',
        description:
          'Called by the provider, not by you: `webhook_url` of the mail server is the address to enter there. If the mail server has a `webhook_secret`, the signature of the provider is verified with it. Reports about email of other organizations are ignored. `received` counts the bounces and complaints in the request, `recorded` those that led to a new event.',
        errors: {
          unauthorized: 'The request does not come from the provider.',
          not_found: 'The address is wrong, or the mail server was deleted.',
          rate_limited: 'Too many requests for one organization are in progress.',
          ...bodyErrors,
        },
        params: Type.Object({ token: Type.String({ maxLength: 200, description: 'The secret part of the address.' }) }),
        response: answers(ReceivedReports),
      },
      handler: async ({ params, headers, body }) => {
        const key = addresses.read(params.token)
        if (!key) throw notFound()
        const { organizationId } = key
        return reports.run(organizationId, async () => {
          const source = await findReportSource(db, box, key)
          if (!source) throw notFound()
          const read = () => readerOf(source)({ headers, body: bytesOf(body), turns: organizationId })
          return ok(await receive(parts, read, organizationId))
        })
      },
    })
  }
}

const notFound = () => new Refusal('not_found', 'There is no mail server with this webhook address.')
