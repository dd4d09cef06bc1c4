import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { type Static, Type } from 'typebox'
import { organizationIdOf, organizationNameOf } from '../../accounts/accounts.ts'
import { recipientOf } from '../../audience/audience.ts'
import type { Senders } from '../../delivery/delivery.ts'
import type { Db } from '../../platform/db/db.ts'
import {
  answers,
  FieldProblemOut,
  FreeObject,
  IdParams,
  Named,
  Nullable,
  ok,
  oneOf,
} from '../../platform/http/envelope.ts'
import { largeBodyBytesMax } from '../../platform/http/policies.ts'
import { tagRoutes } from '../../platform/http/tags.ts'
import { parseEmail } from '../../platform/values/email.ts'
import { findBlockers } from './blockers.ts'
import { contentOf, type FlowContent, getFlow, withChanges } from './flow-state.ts'
import { checkFields, contentIn, emptyContent, flowIn, VariableOut } from './flows.shapes.ts'
import { variablesOut } from './publish.ts'
import type { TemplateRunner } from './template-runner.ts'
import { UtmIn } from './utm.shapes.ts'
import { utmQueryOf } from './utm.ts'
import type { TemplateValues } from './values.ts'

const PreviewIn = Named('PreviewInput', {
  context: Type.Optional(FreeObject),
  contact_email: Type.Optional(
    Type.String({
      format: 'email',
      maxLength: 320,
      description:
        'The recipient, as in a test email. Default: your own address, or recipient@example.com for API keys.',
    }),
  ),
  kind: Type.Optional(oneOf('transactional', 'marketing')),
  subject: Type.Optional(Type.String({ maxLength: 2_000 })),
  html: Type.Optional(Type.String({ maxLength: 600_000 })),
  html_format: Type.Optional(oneOf('html', 'mjml')),
  text: Type.Optional(Nullable(Type.String({ maxLength: 600_000 }))),
  preheader: Type.Optional(Nullable(Type.String({ maxLength: 600 }))),
  from_email: Type.Optional(
    Nullable(
      Type.String({ maxLength: 320, description: 'The sender that `blockers` is about. Null: the default sender.' }),
    ),
  ),
  utm: Type.Optional(UtmIn),
})
const PreviewOut = Named('Preview', {
  subject: Nullable(Type.String()),
  html: Nullable(Type.String()),
  text: Nullable(Type.String()),
  variables: Type.Array(VariableOut),
  missing: Type.Array(Type.String()),
  problems: Type.Array(FieldProblemOut),
  ...checkFields,
})
const empty: FlowContent = { ...emptyContent, subject: ' ', source: { format: 'html', text: ' ' } }

type PreviewParts = { db: Db; runner: TemplateRunner; senders: Pick<Senders, 'defaultOf' | 'identityOf'> }

/** Renders an email exactly as it would be sent. Errors in the template are part of a successful response. */
export function previewRoutes(parts: PreviewParts): FastifyPluginAsyncTypebox {
  return async (api) => {
    tagRoutes(api, 'Flows')
    api.post('/flows/preview', {
      config: { permission: 'flows:read' },
      bodyLimit: largeBodyBytesMax,
      schema: {
        operationId: 'previewTemplate',
        summary: 'Preview an unsaved template',
        description:
          'Renders exactly what would be sent. Errors in the template are part of a successful response, in `problems`; `missing` lists variables without a value, `blockers` what has to be corrected before sending, and `findings` what should be: links, images, alt texts, the length of the subject, the size, and a missing postal address. Nothing is stored or sent.',
        body: PreviewIn,
        response: answers(PreviewOut),
      },
      handler: async (request) => ok(await preview(parts, request, empty, { kind: 'transactional', ...request.body })),
    })

    api.post('/flows/:id/preview', {
      config: { permission: 'flows:read' },
      bodyLimit: largeBodyBytesMax,
      schema: {
        operationId: 'previewFlow',
        summary: 'Preview a flow',
        description:
          'Fields of the request replace the saved ones. Otherwise like the preview of an unsaved template. Nothing is stored or sent.',
        params: IdParams,
        body: PreviewIn,
        response: answers(PreviewOut),
      },
      handler: async (request) => {
        const { flow, version, draft } = await getFlow(parts.db, flowIn(request))
        const saved = version ? contentOf(version) : draft!
        return ok(await preview(parts, request, saved, { kind: flow.kind, ...request.body }))
      },
    })
  }
}

async function preview(
  { db, runner, senders }: PreviewParts,
  request: FastifyRequest,
  saved: FlowContent,
  body: Static<typeof PreviewIn>,
) {
  const { subject, source, text, preheader, utm, fromEmail } = withChanges(saved, contentIn(body))
  const input = {
    template: { subject, source, text, preheader },
    values: await valuesFor(db, request, body),
    isMarketing: body.kind === 'marketing',
    utmQuery: utmQueryOf(utm),
  }
  const organizationId = organizationIdOf(request)
  const { variables, htmlBytes, ...rest } = await runner.preview(organizationId, input)
  // An address that is being typed has no sender yet.
  const fromEmails = fromEmail === null || parseEmail(fromEmail).ok ? [fromEmail] : []
  const blockers = await findBlockers(senders, { organizationId, fromEmails, findings: rest.findings })
  return { ...rest, blockers, html_bytes: htmlBytes, variables: variablesOut({ variables }) }
}

const unsubscribeUrl = '#unsubscribe'
/** The recipient if a request with an API key names none. */
const exampleRecipient = 'recipient@example.com'

/** The values that a test email to the same address would have. */
async function valuesFor(db: Db, request: FastifyRequest, body: Static<typeof PreviewIn>): Promise<TemplateValues> {
  const email = body.contact_email ?? request.member?.email ?? exampleRecipient
  return {
    contact: await recipientOf(db, organizationIdOf(request), email),
    organization: { name: organizationNameOf(request) },
    unsubscribeUrl,
    context: body.context ?? {},
  }
}
