import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest, FastifySchema } from 'fastify'
import { type Static, Type } from 'typebox'
import { may, organizationIdOf, type Permission } from '../accounts/accounts.ts'
import { BlockerCode, BlockersOut, blockerCodes } from '../content/content.ts'
import { accepted, accepts, answers, IdParams, Named, Nullable, ok } from '../platform/http/envelope.ts'
import { tagRoutes } from '../platform/http/tags.ts'
import { Strict } from '../platform/http/unknown-fields.ts'
import { parseIdParam } from '../platform/values/id-params.ts'
import type { BroadcastId, OrganizationId } from '../platform/values/ids.ts'
import {
  cancelBroadcast,
  chooseVariant,
  pauseBroadcast,
  resumeBroadcast,
  retryFailed,
  type StartParts,
  scheduleBroadcast,
  sendNow,
  startBroadcast,
} from './actions.ts'
import type { Broadcast } from './broadcasts.sql.ts'
import { notSent, VariantName } from './drafts/check.routes.ts'
import { checkAccepted, findStartWarnings, type WarningParts } from './drafts/start-warnings.ts'
import type { Confirmation as ConfirmedNumbers } from './sending/service-announcements.ts'
import { BroadcastOut, broadcastOut } from './shapes.ts'
import { variantKeys } from './variants.ts'

const changed =
  'The number of recipients has changed since the check, the email has a blocker that was not accepted, or the broadcast has been started by another request.'

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
      accepted_blockers: Type.Optional(
        Type.Array(BlockerCode, {
          maxItems: blockerCodes.length,
          description:
            'The blockers of the check in spite of which it is sent, `[]` for none. If the email has others, the response is 409 and nothing is sent. Without this field, blockers are only returned as `warnings`.',
        }),
      ),
    }),
  ),
)

const StartedOut = Named('StartedBroadcast', {
  ...BroadcastOut.properties,
  warnings: { ...BlockersOut, description: 'The blockers that the check returns, in spite of which it was started.' },
})

export function broadcastActionRoutes(parts: StartParts & WarningParts): FastifyPluginAsyncTypebox {
  return async (api) => {
    tagRoutes(api, 'Broadcasts')
    api.post('/broadcasts/:id/choose-variant', {
      config: { permission: 'broadcasts:send' },
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
        config: { permission: 'broadcasts:send' },
        schema: { ...documentation, params: IdParams, body: Confirmation, response: accepts(StartedOut) },
        handler: async (request, reply) => {
          const warnings = await findStartWarnings(parts, keyOf(request))
          checkAccepted(warnings, request.body?.accepted_blockers)
          const broadcast = await act(parts, keyOf(request), confirmationOf(request))
          return reply.status(202).send(accepted({ ...broadcastOut(broadcast), warnings }))
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
    confirmed(
      'send-now',
      {
        operationId: 'sendBroadcastNow',
        summary: 'Send a scheduled broadcast now',
        description:
          'Starts a scheduled broadcast at once, to all recipients, also if it was planned for the local time of each. Its sending hours and its rate still apply. `schedule.at` becomes null.',
        errors: {
          conflict:
            'The number of recipients has changed since the check, the email has a blocker that was not accepted, or the broadcast is not scheduled any more.',
          validation_failed: notSent,
          flow_not_active: 'The flow is paused or archived.',
        },
      },
      sendNow,
    )

    const plain = (
      path: string,
      documentation: Documentation,
      act: (parts: StartParts, key: Key) => Promise<Broadcast>,
      permission: Permission = 'broadcasts:write',
    ) =>
      api.post(`/broadcasts/:id/${path}`, {
        config: { permission },
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
      'broadcasts:send',
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
        errors: {
          conflict: 'The broadcast has not finished, no recipient failed, or its flow was deleted.',
          flow_not_active: 'The flow is paused or archived.',
        },
      },
      retryFailed,
      'broadcasts:send',
    )
  }
}

type Documentation = Pick<FastifySchema, 'operationId' | 'summary' | 'description' | 'errors'>

type Key = { organizationId: OrganizationId; id: BroadcastId }

const keyOf = (request: FastifyRequest<{ Params: { id: string } }>): Key => ({
  organizationId: organizationIdOf(request),
  id: parseIdParam('brc', request.params.id),
})

const confirmationOf = (request: FastifyRequest<{ Body: Static<typeof Confirmation> }>): ConfirmedNumbers => ({
  recipients: request.body?.expected_recipients,
  unsubscribed: request.body?.expected_unsubscribed,
  mayAnnounce: may(request, 'broadcasts:announce'),
})
