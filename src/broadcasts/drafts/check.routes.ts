import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { organizationIdOf, targetOf, timezoneOf } from '../../accounts/accounts.ts'
import type { BoundedRead } from '../../platform/db/bounded-read.ts'
import { disconnectionOf } from '../../platform/http/disconnection.ts'
import { answers, IdParams, Named, ok, oneOf } from '../../platform/http/envelope.ts'
import { tagRoutes } from '../../platform/http/tags.ts'
import { Strict } from '../../platform/http/unknown-fields.ts'
import { parseEmailField } from '../../platform/values/email.ts'
import { invalid } from '../../platform/values/errors.ts'
import { toText } from '../../platform/values/ids.ts'
import { sendTestEmails, TestEmailOut, type TestEmailParts, testEmailsOut } from '../../sending/sending.ts'
import { countForMoment } from '../audience/count-audience.ts'
import { queryAudience } from '../audience/resolve-audience.ts'
import { getBroadcast } from '../lifecycle.ts'
import { nowInsteadOf } from '../schedule.ts'
import { kindOf } from '../sending/service-announcements.ts'
import { AudienceIn, emptyAudience, ServiceAnnouncement } from '../shapes.ts'
import { testedVariant } from '../tested-variant.ts'
import { type VariantKey, variantKeys } from '../variants.ts'
import { type Check, type CheckParts, checkBroadcast } from './check.ts'
import { emailCheckFields, emailCheckOut } from './check-shapes.ts'
import { PlanOut, planOut } from './plan-shapes.ts'

export const VariantName = Type.Unsafe<VariantKey>({ ...oneOf(...variantKeys), description: 'A variant, such as `A`.' })

export const notSent =
  'The flow or the audience is missing, or the flow is transactional and the broadcast is not a service announcement.'

const CheckOut = Named('BroadcastCheck', {
  recipients: Type.Integer({ description: 'How many contacts would receive the email. Confirm this number to start.' }),
  audience: Type.Integer({ description: 'Contacts in the audience, each counted once.' }),
  suppressed: Type.Integer(),
  unsubscribed: Type.Integer({
    description:
      'Contacts of the audience that unsubscribed and are not suppressed. A service announcement is sent to them, and they are counted in `recipients`; any other broadcast skips them.',
  }),
  not_subscribed: Type.Integer({
    description: 'The same for contacts that never subscribed.',
  }),
  missing_variables: Type.Array(Type.Object({ variable: Type.String(), contacts: Type.Integer() }), {
    description: 'The variables without a default that recipients lack, with the number of these recipients.',
  }),
  checked: Type.Integer({ description: 'For how many recipients the email was rendered within the time limit.' }),
  incomplete: Type.Integer({ description: 'How many of them lack a variable. They would fail.' }),
  incomplete_contacts: Type.Array(
    Type.Object({ id: Type.String(), email: Type.String(), variables: Type.Array(Type.String()) }),
    { description: 'The first of them.' },
  ),
  unused_context_keys: Type.Array(Type.String()),
  plan: PlanOut,
  ...emailCheckFields,
})

const AudienceCountOut = Named('AudienceCount', {
  recipients: Type.Integer({ description: 'How many contacts would receive the email.' }),
  audience: Type.Integer({ description: 'Contacts in the audience, each counted once.' }),
  suppressed: Type.Integer(),
  unsubscribed: Type.Integer(),
  not_subscribed: Type.Integer(),
  complete: Type.Boolean({ description: 'False if counting was stopped: then there are more than these.' }),
})

type Parts = CheckParts & TestEmailParts & { readAudiences: BoundedRead }

/** What helps before a start: nothing is sent to recipients. */
export function broadcastCheckRoutes(parts: Parts): FastifyPluginAsyncTypebox {
  const { db, readAudiences } = parts
  return async (api) => {
    tagRoutes(api, 'Broadcasts')
    api.post('/broadcasts/:id/check', {
      config: { permission: 'broadcasts:write' },
      schema: {
        operationId: 'checkBroadcast',
        summary: 'Check a broadcast',
        description:
          'Counts the recipients, finds missing variables, says who would get the email when, and checks the email, without sending anything: `blockers` has to be corrected (links that only this machine can open, the sender, the postal address), `findings` should be (links, images, alt texts, subject, size). Renders the email for as many recipients as fit into two seconds. Contacts that lack a variable would get the status `failed`; the others are sent.',
        errors: { validation_failed: notSent, flow_not_active: 'The flow is paused or archived.' },
        params: IdParams,
        querystring: Type.Object({
          send_now: Type.Optional(
            Type.Boolean({ description: 'Plan it as if it was sent now instead of at its planned time.' }),
          ),
        }),
        response: answers(CheckOut),
      },
      handler: async (request) => {
        const broadcast = await getBroadcast(db, ...targetOf(request, 'brc'))
        const schedule = request.query.send_now ? nowInsteadOf(broadcast.schedule) : broadcast.schedule
        return ok(checkOut(await checkBroadcast(parts, { ...broadcast, schedule }), timezoneOf(request)))
      },
    })

    api.post('/broadcasts/count-audience', {
      config: { permission: 'broadcasts:write' },
      schema: {
        operationId: 'countBroadcastAudience',
        summary: 'Count an audience',
        description:
          'Counts the contacts of an audience that is being composed, without a broadcast. Counting ends after a second and a half; then `complete` is false, and there are more contacts than that. It also ends when the client disconnects. The check of a broadcast counts all of them.',
        errors: {
          rate_limited: 'Six audiences of the organization are being counted.',
          validation_failed: 'A group, segment or broadcast does not exist.',
        },
        body: Strict(Type.Object({ audience: AudienceIn, service_announcement: Type.Optional(ServiceAnnouncement) })),
        response: answers(AudienceCountOut),
      },
      handler: async (request, reply) => {
        const { audience, service_announcement: serviceAnnouncement = false } = request.body
        const disconnected = disconnectionOf(reply)
        const options = { flowKind: kindOf({ serviceAnnouncement }), now: new Date() }
        const query = await readAudiences(organizationIdOf(request), (tx, organizationId) =>
          queryAudience(tx, organizationId, { ...emptyAudience, ...audience }, options),
        )
        const { isComplete, notSubscribed, ...counts } = await countForMoment(readAudiences, query, disconnected)
        return ok({ ...counts, not_subscribed: notSubscribed, complete: isComplete })
      },
    })

    api.post('/broadcasts/:id/test', {
      config: { permission: 'broadcasts:write' },
      schema: {
        operationId: 'testBroadcast',
        summary: 'Send a test of a broadcast',
        description:
          'Sends the email to one address, with the context of the broadcast. Test emails are not counted and ignore the subscription of the address.',
        params: IdParams,
        body: Type.Object({ to: Type.String(), variant: Type.Optional(VariantName) }),
        response: answers(TestEmailOut),
      },
      handler: async (request) => {
        const broadcast = await getBroadcast(db, ...targetOf(request, 'brc'))
        const { organizationId, flowId, context } = broadcast
        if (flowId === null) throw invalid({ path: 'flow_id', problem: 'is required. Choose the flow to send' })
        const recipients = [parseEmailField('to', request.body.to)]
        const contextText = JSON.stringify(context)
        const test = { organizationId, flowId, recipients, context, contextText, sendAt: null, isDraft: false }
        const variant = await testedVariant(parts, broadcast, request.body.variant)
        return ok(testEmailsOut(flowId, await sendTestEmails(parts, { ...test, ...variant }))[0]!)
      },
    })
  }
}

const checkOut = (check: Check, timeZone: string) => ({
  recipients: check.recipients,
  audience: check.audience,
  suppressed: check.suppressed,
  unsubscribed: check.unsubscribed,
  not_subscribed: check.notSubscribed,
  missing_variables: [...check.missingVariables].map(([variable, contacts]) => ({ variable, contacts })),
  checked: check.checked,
  incomplete: check.missing,
  incomplete_contacts: check.incomplete.map(({ contact: { id, email }, variables }) => ({
    id: toText('con', id),
    email,
    variables,
  })),
  unused_context_keys: check.unusedContextKeys,
  blockers: check.blockers,
  plan: planOut({ ...check.plan, timeZone }),
  ...emailCheckOut(check),
})
