import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { organizationIdOf, timezoneOf } from '../../accounts/accounts.ts'
import type { TemplateCache, TemplateRunner } from '../../content/content.ts'
import type { BoundedRead } from '../../platform/db/bounded-read.ts'
import { answers, IdParams, Named, Nullable, ok } from '../../platform/http/envelope.ts'
import { outOf } from '../../platform/http/out-of.ts'
import { tagRoutes } from '../../platform/http/tags.ts'
import { parseIdParam } from '../../platform/values/id-params.ts'
import { toText } from '../../platform/values/ids.ts'
import { contextAsText } from '../../sending/sending.ts'
import type { Broadcast, BroadcastContent } from '../broadcasts.sql.ts'
import { getBroadcast } from '../lifecycle.ts'
import { BroadcastChanges, changesOf } from '../shapes.ts'
import { notIn } from '../status.ts'
import { VariantKeyOut } from '../variant-shapes.ts'
import { checkSubjects, checkVariants, variantKeyOf, variantKeys } from '../variants.ts'
import { type BroadcastPreview, previewBroadcast } from './preview.ts'

const PreviewIn = Named('BroadcastPreviewInput', {
  contact_id: Type.Optional(
    Type.String({ description: 'The contact that gets the email. Default: the first of the audience.' }),
  ),
  variant: Type.Optional({
    ...VariantKeyOut,
    description: 'Default: the variant that the contact got, or the winner.',
  }),
  draft: Type.Optional(BroadcastChanges),
})

const ContactOut = Named('PreviewContact', {
  id: Type.String(),
  email: Type.String(),
  first_name: Nullable(Type.String()),
  last_name: Nullable(Type.String()),
})
const PreviewOut = Named('BroadcastPreview', {
  contact: Nullable(ContactOut),
  in_audience: Type.Boolean({ description: 'Whether the contact gets or got the email.' }),
  choices: Type.Array(ContactOut, { description: 'The first recipients, if `contact_id` is not given.' }),
  message_id: Nullable(Type.String({ description: 'The message, if the email was sent. It is shown as it was sent.' })),
  variant: Nullable(VariantKeyOut),
  subject: Nullable(Type.String({ description: 'Null if variables are missing.' })),
  html: Nullable(
    Type.String({ description: 'Links that are tracked have the attribute `data-waxwing-link` with a number.' }),
  ),
  text: Nullable(Type.String()),
  missing: Type.Array(Type.String(), { description: 'Variables without a value: this contact would get no email.' }),
  links: Type.Array(Type.String(), {
    description:
      'The tracked links in the order of their numbers, as `GET …/broadcasts/{id}/links` lists them if they were clicked.',
  }),
})

type Parts = { read: BoundedRead; templates: TemplateCache; runner: TemplateRunner }

export function broadcastPreviewRoutes(parts: Parts): FastifyPluginAsyncTypebox {
  const { read, runner } = parts
  return async (api) => {
    tagRoutes(api, 'Broadcasts')
    api.post('/broadcasts/:id/preview', {
      config: { permission: 'broadcasts:write' },
      schema: {
        operationId: 'previewBroadcast',
        summary: 'Preview the email of a broadcast',
        description:
          'Renders the email as a contact gets it: as it was sent, if it was, and otherwise as it would be sent now, with the changes in `draft` that are not saved. If the audience is empty, it is rendered for recipient@example.com and `contact` is null. Nothing is stored or sent.',
        errors: {
          conflict: '`draft` was given, and the broadcast is not a draft.',
          validation_failed: 'The flow is missing, or a field of `draft` is invalid.',
        },
        params: IdParams,
        body: PreviewIn,
        response: answers(PreviewOut),
      },
      handler: async (request) => {
        const organizationId = organizationIdOf(request)
        const id = parseIdParam('brc', request.params.id)
        const { contact_id: contact, variant, draft } = request.body
        const saved = await read(organizationId, (db) => getBroadcast(db, organizationId, id))
        const changes = draft && changesOf(draft, timezoneOf(request))
        const broadcast = changes ? await withChanges({ read, runner }, saved, changes) : saved
        const choice = {
          contactId: contact === undefined ? undefined : parseIdParam('con', contact),
          variant: variant === undefined ? undefined : variantKeys.indexOf(variant),
        }
        return ok(previewOut(await previewBroadcast(parts, broadcast, choice)))
      },
    })
  }
}

/** Throws `Refusal` if the content is invalid. */
async function withChanges(
  { read, runner }: Pick<Parts, 'read' | 'runner'>,
  broadcast: Broadcast,
  changes: Partial<BroadcastContent>,
): Promise<Broadcast> {
  const { organizationId } = broadcast
  if (broadcast.startedAt) throw notIn(broadcast, 'Only drafts can be changed. Duplicate it instead.')
  const changed = { ...broadcast, ...changes }
  contextAsText(changed.context)
  await checkSubjects(runner, organizationId, changes)
  await read(organizationId, (db) => checkVariants(db, organizationId, changed))
  return changed
}

const contactOut = outOf(ContactOut, { id: 'con' })

const previewOut = (preview: BroadcastPreview) => ({
  contact: preview.contact && contactOut(preview.contact),
  in_audience: preview.inAudience,
  choices: preview.choices.map(contactOut),
  message_id: preview.messageId && toText('msg', preview.messageId),
  variant: variantKeyOf(preview.variant),
  subject: preview.subject,
  html: preview.html,
  text: preview.text,
  missing: preview.missing,
  links: preview.links,
})
