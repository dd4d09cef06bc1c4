import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { targetOf } from '../../accounts/accounts.ts'
import type { Db } from '../../platform/db/db.ts'
import { answers, IdParams, Named, Nothing, Nullable, ok } from '../../platform/http/envelope.ts'
import { tagRoutes } from '../../platform/http/tags.ts'
import { existing } from '../../platform/values/errors.ts'
import { selectDomain } from './domains.sql.ts'
import { findWarmUp, removeWarmUp, setWarmUp, usualPlan, type WarmUp } from './warm-up.ts'

const daysMax = 90
export const WarmUpPlan = Type.Array(Type.Integer({ minimum: 1, maximum: 100_000_000 }), {
  minItems: 1,
  maxItems: daysMax,
  description: 'The most emails on the first, second, … day on which the domain sends. No limit after the last.',
})

const WarmUpOut = Named('WarmUp', {
  plan: WarmUpPlan,
  day: Type.Integer({ description: 'Which day of the plan it is. Only days on which the domain sends count.' }),
  messages_per_day: Nullable(Type.Integer({ description: 'The most emails today. Null after the end of the plan.' })),
  sent_today: Type.Integer({ description: 'Emails that left today, in UTC, including transactional ones.' }),
})

export function warmUpRoutes({ db }: { db: Db }): FastifyPluginAsyncTypebox {
  return async (api) => {
    tagRoutes(api, 'Domains')
    api.get('/domains/:id/warm-up', {
      config: { permission: 'domains:read' },
      schema: {
        operationId: 'getDomainWarmUp',
        summary: 'Get the warm-up of a domain',
        description: 'Which day of its plan it is, and what left today. Null if the domain has no plan.',
        params: IdParams,
        response: answers(Nullable(WarmUpOut)),
      },
      handler: async (request) => {
        const target = targetOf(request, 'dom')
        const domain = await existing('domain', selectDomain(db, ...target))
        return ok(warmUpOut(await findWarmUp(db, domain)))
      },
    })

    api.put('/domains/:id/warm-up', {
      config: { permission: 'domains:write' },
      schema: {
        operationId: 'setDomainWarmUp',
        summary: 'Warm up a domain',
        description: `Limits how much email leaves from a new domain each day, until receivers know it. What exceeds the number of a day waits until the next one. Transactional email is never delayed, but counts.

Changing a plan does not begin it again. Without a \`plan\`, the usual one applies: ${usualPlan.join(', ')}.`,
        params: IdParams,
        body: Type.Object({ plan: Type.Optional(WarmUpPlan) }),
        response: answers(WarmUpOut),
      },
      handler: async (request) => {
        const target = targetOf(request, 'dom')
        await setWarmUp(db, ...target, request.body.plan ?? usualPlan)
        const domain = await existing('domain', selectDomain(db, ...target))
        return ok(warmUpOut(await findWarmUp(db, domain))!)
      },
    })

    api.delete('/domains/:id/warm-up', {
      config: { permission: 'domains:write' },
      schema: {
        operationId: 'removeDomainWarmUp',
        summary: 'End the warm-up of a domain',
        description: 'Email from the domain is no longer limited. A later plan begins at its first day.',
        params: IdParams,
        response: answers(Nothing),
      },
      handler: async (request) => {
        await removeWarmUp(db, ...targetOf(request, 'dom'))
        return ok(null, 'Warm-up ended')
      },
    })
  }
}

const warmUpOut = (warmUp: WarmUp | null) =>
  warmUp === null
    ? null
    : {
        plan: [...warmUp.plan],
        day: warmUp.day,
        messages_per_day: warmUp.messagesPerDay,
        sent_today: warmUp.sentToday,
      }
