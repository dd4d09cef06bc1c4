import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type Static, Type } from 'typebox'
import { organizationIdOf } from '../../accounts/accounts.ts'
import type { BoundedRead } from '../../platform/db/bounded-read.ts'
import { csvFile, sendCsv } from '../../platform/http/csv.ts'
import { errorsOnly, IdParams, Named, Nullable, oneOf, page, pages, Timestamp } from '../../platform/http/envelope.ts'
import { outOf } from '../../platform/http/out-of.ts'
import { pageQuery, readPage, toPage, uuidPart } from '../../platform/http/paging.ts'
import { tagRoutes } from '../../platform/http/tags.ts'
import { invalid } from '../../platform/values/errors.ts'
import { parseIdParam } from '../../platform/values/id-params.ts'
import type { ContactId } from '../../platform/values/ids.ts'
import { engagementFilters, engagements } from '../../sending/sending.ts'
import { recipientStatuses } from '../broadcasts.sql.ts'
import { getBroadcast } from '../lifecycle.ts'
import { variantKeyOf, variantKeys } from '../variants.ts'
import { exportColumnsOf, exportedRecipients } from './export.ts'
import {
  engagementOfRecipient,
  positionOf,
  type RecipientFilter,
  type RecipientRow,
  selectRecipients,
} from './recipients.sql.ts'

const linkLengthMax = 500

const RecipientOut = Named('BroadcastRecipient', {
  contact_id: Type.String(),
  email: Nullable(Type.String({ description: 'Null if the contact was erased.' })),
  status: oneOf(...recipientStatuses),
  engagement: Nullable(
    Type.Unsafe<(typeof engagements)[number]>({
      ...oneOf(...engagements),
      description: 'The last thing that happened to the email, as in the list of messages. Null if none was sent.',
    }),
  ),
  reason: Nullable(Type.String({ description: 'Why the email bounced, or why there was none.' })),
  message_id: Nullable(Type.String()),
  variant: Nullable(
    Type.Unsafe<(typeof variantKeys)[number]>({
      ...oneOf(...variantKeys),
      description: 'The variant of a recipient in the sample. Null for others, who get the winner.',
    }),
  ),
  first_opened_at: Nullable(Timestamp),
  first_clicked_at: Nullable(Timestamp),
  complained_at: Nullable(Timestamp),
  unsubscribed_at: Nullable(
    Type.String({ format: 'date-time', description: 'When the unsubscribe link of this email was used.' }),
  ),
  links: Type.Array(Type.String(), {
    description: 'The clicked links, the first one first, at most 20. Empty if the events were deleted.',
  }),
})

const filterQuery = {
  status: Type.Optional(oneOf(...recipientStatuses)),
  engagement: Type.Optional({
    ...oneOf(...engagementFilters),
    description:
      'What happened to the email. `sent` is `delivered` or `bounced`. `opened` and `clicked` are by people: automated opens and clicks do not count. `not_opened` was delivered, and neither opened nor clicked. `unsubscribed` used the link in this email.',
  }),
  link: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: linkLengthMax,
      description: 'Only recipients that clicked this link, as in the list of links.',
    }),
  ),
  variant: Type.Optional(
    Type.Unsafe<(typeof variantKeys)[number]>({
      ...oneOf(...variantKeys),
      description: 'Only recipients in the sample of an A/B test that this variant was chosen for.',
    }),
  ),
}

function filterOf(query: Static<ReturnType<typeof Type.Object<typeof filterQuery>>>): RecipientFilter {
  const { status, link, variant, engagement = link === undefined ? undefined : 'clicked' } = query
  if (link !== undefined && engagement !== 'clicked')
    throw invalid({ path: 'link', problem: 'can only be used with engagement=clicked' })
  return {
    status,
    engagement,
    link: link?.replaceAll('\0', ''),
    variant: variant && variantKeys.indexOf(variant),
  }
}

/** Recipients of a broadcast and what they did with the email. */
export function recipientRoutes(api: Parameters<FastifyPluginAsyncTypebox>[0], read: BoundedRead): void {
  tagRoutes(api, 'Broadcasts')
  api.get('/broadcasts/:id/recipients', {
    config: { permission: 'broadcasts:read' },
    schema: {
      operationId: 'listBroadcastRecipients',
      summary: 'List the recipients of a broadcast',
      description:
        'The recipients that were frozen at the start, with what happened to each. `queued` means that the mail server deferred the email and it will be tried again. `suppressed` and `unsubscribed` recipients bounced, complained or unsubscribed after the start. Filter by `engagement` to list the people behind a number of the results.',
      params: IdParams,
      querystring: Type.Object({ ...pageQuery, ...filterQuery }),
      response: pages(RecipientOut),
    },
    handler: async (request) => {
      const organizationId = organizationIdOf(request)
      const id = parseIdParam('brc', request.params.id)
      const { limit, cursor } = readPage(request.query, [uuidPart])
      const filter = filterOf(request.query)
      const after = cursor?.[0] as ContactId | undefined
      const { broadcast, rows } = await read(organizationId, async (tx) => {
        const broadcast = await getBroadcast(tx, organizationId, id)
        return { broadcast, rows: await selectRecipients(tx, broadcast, filter, { after, limit: limit + 1 }) }
      })
      const { items, nextCursor } = toPage(rows, limit, (row) => [positionOf(broadcast, filter, row)])
      return page({ nextCursor, items: items.map(recipientOut) })
    },
  })

  api.get('/broadcasts/:id/recipients/export', {
    config: { permission: 'broadcasts:read' },
    schema: {
      operationId: 'exportBroadcastRecipients',
      summary: 'Export the recipients of a broadcast',
      description: `A CSV file of the recipients with what happened to each. Columns: ${exportColumnsOf({
        winner: null,
      })
        .map(([name]) => `\`${name}\``)
        .join(
          ', ',
        )}. Links are separated by spaces. Cells that a spreadsheet would run as a formula start with an apostrophe.`,
      params: IdParams,
      querystring: Type.Object(filterQuery),
      response: { 200: csvFile, ...errorsOnly },
    },
    handler: async (request, reply) => {
      const organizationId = organizationIdOf(request)
      const id = parseIdParam('brc', request.params.id)
      const filter = filterOf(request.query)
      const broadcast = await read(organizationId, (tx) => getBroadcast(tx, organizationId, id))
      return sendCsv(reply, 'recipients.csv', exportColumnsOf(broadcast), exportedRecipients(read, broadcast, filter))
    },
  })
}

const recipientOut = outOf(
  RecipientOut,
  { contact_id: 'con', message_id: 'msg' },
  {
    engagement: engagementOfRecipient,
    variant: ({ variant }: RecipientRow) => variantKeyOf(variant),
    links: ({ links }: RecipientRow) => links ?? [],
  },
)
