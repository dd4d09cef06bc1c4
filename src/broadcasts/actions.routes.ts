import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest, FastifySchema } from 'fastify'
import { type Static, Type } from 'typebox'
import { organizationIdOf, requireBroadcaster } from '../accounts/guards.ts'
import type { ReadyVersion } from '../flows/template-cache.ts'
import { accepted, accepts, answers, IdParams, Named, Nullable, ok, oneOf } from '../http/envelope.ts'
import { tagRoutes } from '../http/tags.ts'
import { Strict } from '../http/unknown-fields.ts'
import { TestEmailOut, testEmailOut } from '../messages/test-emails.routes.ts'
import { sendTestEmails, type TestEmailParts } from '../messages/test-emails.ts'
import { parseEmailField } from '../values/email.ts'
import { invalid } from '../values/errors.ts'
import { parseIdParam } from '../values/id-params.ts'
import { type BroadcastId, type OrganizationId, toText } from '../values/ids.ts'
import {
  cancelBroadcast,
  chooseVariant,
  pauseBroadcast,
  resumeBroadcast,
  retryFailed,
  type StartParts,
  scheduleBroadcast,
  startBroadcast,
} from './actions.ts'
import type { Broadcast } from './broadcasts.sql.ts'
import { getBroadcast } from './broadcasts.ts'
import { type Check, type CheckParts, checkBroadcast } from './check.ts'
import { findFlowOf } from './flow-of-broadcast.sql.ts'
import type { Confirmation as ConfirmedNumbers } from './service-announcements.ts'
import { BroadcastOut, broadcastOut } from './shapes.ts'
import { loadVersions, type VariantKey, variantKeys } from './variants.ts'

const VariantName = Type.Unsafe<VariantKey>({ ...oneOf(...variantKeys), description: 'A variant, such as `A`.' })

const notSent =
  'The flow or the audience is missing, or the flow is transactional and the broadcast is not a service announcement.'
const changed =
  'The number of recipients has changed since the check, or the broadcast has been started by another request.'

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
})

const Confirmation = Nullable(
  Strict(
    Named('Confirmation', {
      expected_recipients: Type.Optional(
        Type.Integer({
          minimum: 0,
          description:
            'The number of recipients, as the check returned it. If it has changed since, the response is 409.',
        }),
      ),
      expected_unsubscribed: Type.Optional(
        Type.Integer({
          minimum: 0,
          description:
            'Required for a service announcement: the number of unsubscribed contacts that receive it, as the check returned it. If it has changed since, the response is 409.',
        }),
      ),
    }),
  ),
)

type Parts = StartParts & CheckParts & TestEmailParts

export function broadcastActionRoutes(parts: Parts): FastifyPluginAsyncTypebox {
  const { db, read } = parts
  return async (api) => {
    tagRoutes(api, 'Broadcasts')
    api.post('/broadcasts/:id/check', {
      schema: {
        operationId: 'checkBroadcast',
        summary: 'Check a broadcast',
        description:
          'Counts the recipients and finds missing variables, without sending anything. Renders the email for as many recipients as fit into two seconds. Contacts that lack a variable would get the status `failed`; the others are sent.',
        errors: { validation_failed: notSent, flow_not_active: 'The flow is paused or archived.' },
        params: IdParams,
        response: answers(CheckOut),
      },
      handler: async (request) => {
        const { organizationId, id } = keyOf(request)
        const broadcast = await getBroadcast(db, organizationId, id)
        return ok(checkOut(await checkBroadcast(parts, read, broadcast)))
      },
    })

    api.post('/broadcasts/:id/test', {
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
        const { organizationId, id } = keyOf(request)
        const broadcast = await getBroadcast(db, organizationId, id)
        const { flowId, context } = broadcast
        if (flowId === null) throw invalid({ path: 'flow_id', problem: 'is required. Choose the flow to send' })
        const recipients = [parseEmailField('to', request.body.to)]
        const contextText = JSON.stringify(context)
        const test = { organizationId, flowId, recipients, context, contextText, sendAt: null, isDraft: false }
        const variant = await testedVariant(parts, broadcast, request.body.variant)
        const { queuedAt, emails } = await sendTestEmails(parts, { ...test, ...variant })
        return ok(testEmailOut(flowId, queuedAt, null, emails[0]!))
      },
    })

    api.post('/broadcasts/:id/choose-variant', {
      onRequest: requireBroadcaster,
      schema: {
        operationId: 'chooseBroadcastVariant',
        summary: 'Choose a variant of a broadcast',
        description:
          'Sends this variant to the recipients outside the sample. Also ends the wait for the winner that would be chosen automatically. While the sample is still being sent, the others follow when that has finished.',
        errors: {
          conflict: 'The broadcast has no variants or no sample, is not being sent, or a variant has been chosen.',
          validation_failed: 'The broadcast has no such variant.',
        },
        params: IdParams,
        body: Type.Object({ variant: VariantName }),
        response: answers(BroadcastOut),
      },
      handler: async (request) => {
        const variant = variantKeys.indexOf(request.body.variant)
        return ok(broadcastOut(await chooseVariant(parts, keyOf(request), variant)))
      },
    })

    const confirmed = (
      path: string,
      documentation: Documentation,
      act: (parts: StartParts, key: Key, confirmation: ConfirmedNumbers) => Promise<Broadcast>,
    ) =>
      api.post(`/broadcasts/:id/${path}`, {
        onRequest: requireBroadcaster,
        schema: { ...documentation, params: IdParams, body: Confirmation, response: accepts(BroadcastOut) },
        handler: async (request, reply) => {
          const broadcast = await act(parts, keyOf(request), confirmationOf(request))
          return reply.status(202).send(accepted(broadcastOut(broadcast)))
        },
      })
    confirmed(
      'start',
      {
        operationId: 'startBroadcast',
        summary: 'Start a broadcast',
        description:
          'Without a planned time, the version of the flow is pinned, the recipients are frozen in the background, and sending begins. With `schedule.at`, the broadcast is scheduled. A service announcement needs `expected_unsubscribed` and, with a session, an owner. Of several concurrent requests, one succeeds.',
        errors: { conflict: changed, validation_failed: notSent, flow_not_active: 'The flow is paused or archived.' },
      },
      startBroadcast,
    )
    confirmed(
      'schedule',
      {
        operationId: 'scheduleBroadcast',
        summary: 'Schedule a broadcast',
        description:
          'Starts the broadcast at its planned time. The recipients are those of that time, so their number may differ from the confirmed one. If the service is not running at that time, the broadcast is sent up to `missed_after_seconds` later, and expires after that.',
        errors: {
          conflict: changed,
          validation_failed: 'The planned time is missing, in the past or more than 365 days ahead.',
        },
      },
      scheduleBroadcast,
    )

    const plain = (
      path: string,
      documentation: Documentation,
      act: (parts: StartParts, key: Key) => Promise<Broadcast>,
      needsPermission = false,
    ) =>
      api.post(`/broadcasts/:id/${path}`, {
        ...(needsPermission && { onRequest: requireBroadcaster }),
        schema: { ...documentation, params: IdParams, response: answers(BroadcastOut) },
        handler: async (request) => ok(broadcastOut(await act(parts, keyOf(request)))),
      })
    plain(
      'pause',
      {
        operationId: 'pauseBroadcast',
        summary: 'Pause a broadcast',
        description:
          'No further email is sent until it is resumed. Emails that are being transferred at this moment still arrive.',
        errors: { conflict: 'The broadcast is not being sent.' },
      },
      pauseBroadcast,
    )
    plain(
      'resume',
      {
        operationId: 'resumeBroadcast',
        summary: 'Resume a broadcast',
        description: 'Continues where it was paused.',
        errors: { conflict: 'The broadcast is not paused.' },
      },
      resumeBroadcast,
      true,
    )
    plain(
      'cancel',
      {
        operationId: 'cancelBroadcast',
        summary: 'Cancel a broadcast',
        description:
          'Recipients that were not sent an email yet get none, and get the status `cancelled` within seconds. This cannot be undone.',
        errors: { conflict: 'The broadcast has ended, or was never started.' },
      },
      cancelBroadcast,
    )
    plain(
      'retry-failed',
      {
        operationId: 'retryBroadcastFailed',
        summary: 'Retry the failed recipients of a broadcast',
        description:
          'Sends a finished broadcast to the recipients with the status `failed`. Recipients that bounced or are suppressed are not tried again.',
        errors: { conflict: 'The broadcast has not finished, or no recipient failed.' },
      },
      retryFailed,
      true,
    )
  }
}

type Documentation = Pick<FastifySchema, 'operationId' | 'summary' | 'description' | 'errors'>

/** Returns the version to test, if the broadcast has a subject or variants: the named one, or the first. */
async function testedVariant(
  parts: Parts,
  broadcast: Broadcast,
  key: VariantKey | undefined,
): Promise<{ version: ReadyVersion } | undefined> {
  const { organizationId, flowId, subject, variants } = broadcast
  const position = variantKeys.indexOf(key ?? 'A')
  if (key !== undefined && position >= variants.length) throw invalid({ path: 'variant', problem: 'does not exist' })
  if (variants.length === 0 && subject === null) return undefined
  const flow = await findFlowOf(parts.db, organizationId, flowId!)
  const versionFor = flow && (await loadVersions(parts, broadcast, flow.versionId))
  if (!versionFor) throw invalid({ path: 'flow_id', problem: 'does not exist' })
  return { version: versionFor(position) }
}

type Key = { organizationId: OrganizationId; id: BroadcastId }

const keyOf = (request: FastifyRequest<{ Params: { id: string } }>): Key => ({
  organizationId: organizationIdOf(request),
  id: parseIdParam('brc', request.params.id),
})

/** Of the members, only owners send service announcements. */
const confirmationOf = ({ body, member }: FastifyRequest<{ Body: Static<typeof Confirmation> }>): ConfirmedNumbers => ({
  recipients: body?.expected_recipients,
  unsubscribed: body?.expected_unsubscribed,
  mayAnnounce: !member || member.role === 'owner',
})

const checkOut = (check: Check) => ({
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
})
