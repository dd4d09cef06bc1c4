import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply } from 'fastify'
import { type Static, Type } from 'typebox'
import { organizationIdOf, userIdOf } from '../accounts/guards.ts'
import type { BoundedRead } from '../db/bounded-read.ts'
import { answers, created, creates, Nothing, Nullable, ok, oneOf, page, pages, Timestamp } from '../http/envelope.ts'
import { checkIfMatch, etagOf } from '../http/etag.ts'
import { pageQuery, readPage, toPage, uuidPart } from '../http/paging.ts'
import { parseIdParam } from '../values/id-params.ts'
import { type FlowId, type OrganizationId, toText } from '../values/ids.ts'
import { type FlowSummary, selectFlows } from './flows.sql.ts'
import {
  changeFlow,
  contentOf,
  createFlow,
  deleteFlow,
  type Flow,
  type FlowParts,
  getFlow,
  type Version,
} from './flows.ts'

const Kind = oneOf('transactional', 'marketing')
const Status = oneOf('active', 'paused', 'archived')
const Format = oneOf('html', 'mjml')
const Text = (maxLength: number) => Type.String({ maxLength })

const content = {
  subject: Text(2_000),
  html: Text(600_000),
  html_format: Type.Optional(Format),
  text: Type.Optional(Nullable(Text(600_000))),
  from_name: Type.Optional(Nullable(Text(500))),
  from_email: Type.Optional(Nullable(Text(500))),
  reply_to: Type.Optional(Nullable(Text(500))),
}
const FlowIn = Type.Object({ name: Text(200), kind: Kind, status: Type.Optional(Status), ...content })
const FlowChanges = Type.Object({
  ...Type.Partial(FlowIn).properties,
  base_version: Type.Optional(
    Type.Integer({
      minimum: 1,
      description:
        'The version that the change is based on. If there is a newer one, the response is 409 `conflict` and nothing changes.',
    }),
  ),
})

export const VariableOut = Type.Object({ name: Type.String(), has_default: Type.Boolean() })
export const contentOut = {
  subject: Type.String(),
  html: Type.String(),
  html_format: Format,
  text: Nullable(Type.String()),
  from_name: Nullable(Type.String()),
  from_email: Nullable(Type.String()),
  reply_to: Nullable(Type.String()),
  variables: Type.Array(VariableOut),
}
const FlowOut = Type.Object({
  id: Type.String(),
  name: Type.String(),
  kind: Kind,
  status: Status,
  version: Type.Integer(),
  ...contentOut,
  created_at: Timestamp,
  updated_at: Timestamp,
})
const FlowSummaryOut = Type.Object({
  id: Type.String(),
  name: Type.String(),
  kind: Kind,
  status: Status,
  subject: Type.String(),
  version: Type.Integer(),
  created_at: Timestamp,
  updated_at: Timestamp,
  stats_30d: Type.Object({
    sent: Type.Integer(),
    opens_unique: Type.Integer(),
    clicks_unique: Type.Integer(),
    bounces: Type.Integer(),
  }),
})
const Params = Type.Object({ id: Type.String() })
const tags = ['Flows']

export function flowRoutes(parts: FlowParts & { read: BoundedRead }): FastifyPluginAsyncTypebox {
  const { db, read } = parts
  const flowOut = async (organizationId: OrganizationId, id: FlowId, reply: FastifyReply) => {
    const { flow, version } = await getFlow(db, organizationId, id)
    reply.header('etag', tagOf(flow))
    return toFlowOut(flow, version)
  }

  return async (api) => {
    api.get(
      '/flows',
      {
        schema: {
          tags,
          summary: 'List flows',
          description: 'Newest first. Archived flows are only included if `status` is `archived`.',
          querystring: Type.Object({
            status: Type.Optional(Status),
            query: Type.Optional(Text(200)),
            ...pageQuery,
          }),
          response: pages(FlowSummaryOut),
        },
      },
      async (request) => {
        const { status, query } = request.query
        const { limit, cursor } = readPage(request.query, [uuidPart])
        const filter = { status, query, before: cursor?.[0] as FlowId | undefined, limit: limit + 1 }
        const organizationId = organizationIdOf(request)
        const flows = await read(organizationId, (tx) => selectFlows(tx, organizationId, filter))
        const { items, nextCursor } = toPage(flows, limit, ({ id }) => [id])
        return page({ items: items.map(toSummaryOut), nextCursor })
      },
    )

    api.post(
      '/flows',
      {
        schema: {
          tags,
          summary: 'Create a flow',
          description:
            'Subject, HTML and text are Liquid templates. They can use `contact.email`, `contact.first_name`, `contact.last_name`, `contact.attributes`, `organization.name`, `unsubscribe_url`, and the keys of the `context` of the send request. Filters, tags and limits are documented in the [templates guide](guides/templates).',
          body: FlowIn,
          response: creates(FlowOut),
        },
      },
      async (request, reply) => {
        const organizationId = organizationIdOf(request)
        const userId = userIdOf(request)
        const { name, kind, status = 'active' } = request.body
        const { subject, html } = request.body
        const id = await createFlow(parts, organizationId, userId, {
          name,
          kind,
          status,
          ...{
            htmlFormat: 'html',
            text: null,
            fromName: null,
            fromEmail: null,
            replyTo: null,
            ...contentIn(request.body),
          },
          subject,
          html,
        })
        return reply.status(201).send(created(await flowOut(organizationId, id, reply)))
      },
    )

    api.get(
      '/flows/:id',
      { schema: { tags, summary: 'Get a flow', params: Params, response: answers(FlowOut) } },
      async (request, reply) =>
        ok(await flowOut(organizationIdOf(request), parseIdParam('flw', request.params.id), reply)),
    )

    api.patch(
      '/flows/:id',
      {
        schema: {
          tags,
          summary: 'Update a flow',
          description:
            'A change of the content creates a new version. Omitted fields keep their value, also if other requests change the flow at the same time. To reject the change if the flow was saved since you read it, send its `version` as `base_version`.',
          params: Params,
          body: FlowChanges,
          response: answers(FlowOut),
        },
      },
      async (request, reply) => {
        const organizationId = organizationIdOf(request)
        const userId = userIdOf(request)
        const id = parseIdParam('flw', request.params.id)
        const { name, kind, status, base_version: baseVersion } = request.body
        const named = {
          ...(name === undefined ? {} : { name }),
          ...(kind ? { kind } : {}),
          ...(status ? { status } : {}),
        }
        const checkUnchanged = checkIfMatch(request, tagOf)
        const changes = { ...named, ...contentIn(request.body), baseVersion, checkUnchanged }
        await changeFlow(parts, organizationId, userId, id, changes)
        return ok(await flowOut(organizationId, id, reply))
      },
    )

    api.delete(
      '/flows/:id',
      { schema: { tags, summary: 'Delete a flow', params: Params, response: answers(Nothing) } },
      async (request) => {
        await deleteFlow(db, organizationIdOf(request), parseIdParam('flw', request.params.id))
        return ok(null, 'Flow deleted')
      },
    )
  }
}

const tagOf = ({ name, kind, status, versionId }: Flow) => etagOf(name, kind, status, versionId)

type ContentIn = Partial<Static<typeof FlowIn>>

/** Maps the fields of a request to content. Omitted fields stay omitted. */
export function contentIn(body: ContentIn) {
  return {
    ...(body.subject === undefined ? {} : { subject: body.subject }),
    ...(body.html === undefined ? {} : { html: body.html }),
    ...(body.html_format === undefined ? {} : { htmlFormat: body.html_format }),
    ...(body.text === undefined ? {} : { text: body.text || null }),
    ...(body.from_name === undefined ? {} : { fromName: body.from_name || null }),
    ...(body.from_email === undefined ? {} : { fromEmail: body.from_email || null }),
    ...(body.reply_to === undefined ? {} : { replyTo: body.reply_to || null }),
  }
}

export function toContentOut(version: Version) {
  const { subject, html, htmlFormat, text, fromName, fromEmail, replyTo } = contentOf(version)
  const { variables } = version
  return {
    subject,
    html,
    html_format: htmlFormat,
    text,
    from_name: fromName,
    from_email: fromEmail,
    reply_to: replyTo,
    variables,
  }
}

const times = (flow: Flow) => ({ created_at: flow.createdAt.toISOString(), updated_at: flow.updatedAt.toISOString() })

function toFlowOut(flow: Flow, version: Version) {
  const { name, kind, status } = flow
  return {
    id: toText('flw', flow.id),
    name,
    kind,
    status,
    version: version.number,
    ...toContentOut(version),
    ...times(flow),
  }
}

function toSummaryOut(flow: FlowSummary) {
  const { name, kind, status, subject } = flow
  return {
    id: toText('flw', flow.id),
    name,
    kind,
    status,
    subject,
    version: flow.number,
    ...times(flow),
    stats_30d: {
      sent: flow.sent,
      opens_unique: flow.opensUnique,
      clicks_unique: flow.clicksUnique,
      bounces: flow.bounces,
    },
  }
}
