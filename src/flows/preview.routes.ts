import { type FastifyPluginAsyncTypebox, type Static, Type } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { memberOf } from '../accounts/guards.ts'
import { recipientOf } from '../contacts/contacts.ts'
import type { Db } from '../db/db.ts'
import { Refusal } from '../errors.ts'
import { answers, FreeObject, Nullable, ok, oneOf } from '../http/envelope.ts'
import { warnOfDeadLinks } from './dead-links.ts'
import { contentIn, flowIdOf, VariableOut } from './flows.routes.ts'
import { contentOf, type FlowContent, getFlow, toFieldProblems, variablesOut } from './flows.ts'
import type { Attribute } from './html-tags.ts'
import { compileTemplate, missingVariables } from './template.ts'
import { withUnsubscribeLine } from './unsubscribe-line.ts'
import type { TemplateValues } from './values.ts'

const PreviewIn = Type.Object({
  context: Type.Optional(FreeObject),
  contact_email: Type.Optional(
    Type.String({ maxLength: 320, description: 'The recipient, as in a test email. Default: your own address.' }),
  ),
  kind: Type.Optional(oneOf('transactional', 'marketing')),
  subject: Type.Optional(Type.String({ maxLength: 2_000 })),
  html: Type.Optional(Type.String({ maxLength: 600_000 })),
  html_format: Type.Optional(oneOf('html', 'mjml')),
  text: Type.Optional(Nullable(Type.String({ maxLength: 600_000 }))),
})
const PreviewOut = Type.Object({
  subject: Nullable(Type.String()),
  html: Nullable(Type.String()),
  text: Nullable(Type.String()),
  variables: Type.Array(VariableOut),
  missing: Type.Array(Type.String()),
  problems: Type.Array(
    Type.Object({
      path: Type.String(),
      problem: Type.String(),
      line: Type.Optional(Type.Integer()),
      column: Type.Optional(Type.Integer()),
    }),
  ),
  warnings: Type.Array(Type.String(), { description: 'Problems that do not prevent sending.' }),
})
const empty: FlowContent = {
  subject: ' ',
  html: ' ',
  htmlFormat: 'html',
  text: null,
  fromName: null,
  fromEmail: null,
  replyTo: null,
}

/** Renders an email exactly as it would be sent. Errors in the template are part of a successful response. */
export function previewRoutes({ db }: { db: Db }): FastifyPluginAsyncTypebox {
  const tags = ['Flows']
  return async (api) => {
    api.post(
      '/flows/preview',
      {
        schema: {
          tags,
          summary: 'Preview a template that is not saved',
          body: PreviewIn,
          response: answers(PreviewOut),
        },
      },
      async (request) => ok(await preview(db, request, empty, { kind: 'transactional', ...request.body })),
    )

    api.post(
      '/flows/:id/preview',
      {
        schema: {
          tags,
          summary: 'Preview a flow; fields in the request replace the saved ones',
          params: Type.Object({ id: Type.String() }),
          body: PreviewIn,
          response: answers(PreviewOut),
        },
      },
      async (request) => {
        const { flow, version } = await getFlow(db, memberOf(request).organizationId, flowIdOf(request.params.id))
        return ok(await preview(db, request, contentOf(version), { kind: flow.kind, ...request.body }))
      },
    )
  }
}

async function preview(db: Db, request: FastifyRequest, saved: FlowContent, body: Static<typeof PreviewIn>) {
  const nothing = { subject: null, html: null, text: null, variables: [], missing: [] as string[], warnings: [] }
  const compilation = await compileTemplate({ ...saved, ...contentIn(body) })
  if (compilation.kind === 'faulty') return { ...nothing, problems: toFieldProblems(compilation.problems) }
  const { template } = compilation
  const values = await valuesFor(db, request, body)
  const missing = missingVariables(template, values)
  const known = { variables: variablesOut(template), missing }
  try {
    const rendered = template.render(values)
    const mail = body.kind === 'marketing' ? withUnsubscribeLine(rendered, unsubscribeUrl) : rendered
    // While variables are missing, a link may still get a value: warn only of links that are literal in the template.
    const isSure = (href: Attribute) =>
      missing.length === 0 || template.stored.html.includes(mail.html.slice(href.start - 1, href.end))
    return { ...mail, ...known, problems: [], warnings: warnOfDeadLinks(mail.html, isSure) }
  } catch (error) {
    if (error instanceof Refusal) return { ...nothing, ...known, problems: error.fields }
    throw error
  }
}

const unsubscribeUrl = '#unsubscribe'

/** The values that a test email to the same address would have. */
async function valuesFor(db: Db, request: FastifyRequest, body: Static<typeof PreviewIn>): Promise<TemplateValues> {
  const member = memberOf(request)
  return {
    contact: await recipientOf(db, member.organizationId, body.contact_email ?? member.email),
    organization: { name: member.organization.name },
    unsubscribeUrl,
    context: body.context ?? {},
  }
}
