import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { memberOf, organizationIdOf } from '../../accounts/accounts.ts'
import type { BoundedRead } from '../../platform/db/bounded-read.ts'
import type { Db } from '../../platform/db/db.ts'
import { answers, Named, Nullable, ok, Timestamp } from '../../platform/http/envelope.ts'
import { tagRoutes } from '../../platform/http/tags.ts'
import { asciiDomain } from '../../platform/values/domain.ts'
import { conflict, invalid } from '../../platform/values/errors.ts'
import type { OrganizationId } from '../../platform/values/ids.ts'
import { findDefaults, listSites, type SiteView, siteView } from './list-sites.ts'
import { resetSite, upsertLimits } from './receiving-sites.sql.ts'
import type { ReceivingSites } from './receiving-sites.ts'
import { shippedSite } from './shipped-sites.ts'

/** Sites whose limits an organization can set, and that can be slowed down. */
const sitesMax = 500

const perSecond = Nullable(
  Type.Number({ minimum: 0.001, maximum: 10_000, description: 'The most emails per second. Null: no limit.' }),
)
const perDay = Nullable(
  Type.Integer({ minimum: 1, maximum: 100_000_000, description: 'The most emails per day, in UTC. Null: no limit.' }),
)

const SiteOut = Named('ReceivingSite', {
  site: Type.String({ description: 'Identifies the site: a listed one such as `google`, or a domain.' }),
  name: Type.String(),
  domains: Type.Array(Type.String(), { description: 'Domains that belong to it without a look-up.' }),
  mx_suffixes: Type.Array(Type.String(), { description: 'Domains whose MX host ends like this belong to it.' }),
  messages_per_second: perSecond,
  messages_per_day: perDay,
  is_changed: Type.Boolean({ description: 'Whether the organization has set the limits.' }),
  default_messages_per_second: Nullable(Type.Number()),
  default_messages_per_day: Nullable(Type.Integer()),
  slowed_until: Nullable({
    ...Timestamp,
    description: 'Until when it gets a tenth of its rate, because it has deferred email.',
  }),
  slowed_reason: Nullable(Type.String({ description: 'The reply or bounce with which it deferred email.' })),
})

const installationOnly = 'The organization is that of the operator, and you are not one of its owners.'

const SiteParams = Type.Object({
  site: Type.String({ minLength: 1, maxLength: 255, description: 'A listed site such as `google`, or a domain.' }),
})

export type ReceivingSiteRouteParts = { db: Db; read: BoundedRead; sites: ReceivingSites }

export function receivingSiteRoutes({ db, read, sites }: ReceivingSiteRouteParts): FastifyPluginAsyncTypebox {
  /** The limits of the operator are the defaults of all. */
  const changing = {
    permission: 'receiving_sites:write',
    ofInstallation: (request: FastifyRequest) => memberOf(request).organization.isOperator,
  } as const
  return async (api) => {
    tagRoutes(api, 'Receiving sites')
    api.get('/receiving-sites', {
      config: { permission: 'receiving_sites:read' },
      schema: {
        operationId: 'listReceivingSites',
        summary: 'List receiving sites',
        description: `The providers that receive email, with their limits: those that are listed, and domains for which the organization has set limits. All domains with the same MX hosts belong to one site.

The limits apply to email through mail servers with \`shape_by_receiver\`, by all processes together. An email that exceeds them waits; transactional email goes first.`,
        response: answers(Type.Array(SiteOut)),
      },
      handler: async (request) => {
        const caller = organizationIdOf(request)
        const defaults = await findDefaults(db, caller)
        const listed = await read(caller, (tx, organizationId) => listSites(tx, organizationId, defaults))
        return ok(listed.map(siteOut))
      },
    })

    api.put('/receiving-sites/:site', {
      config: changing,
      schema: {
        operationId: 'updateReceivingSite',
        summary: 'Set the limits of a receiving site',
        description:
          'For a listed site, or a domain: that of the recipients, or the registered domain of their MX host. They replace the default. Changes take effect within ten seconds.\n\nLimits of the organization of the operator are the defaults of all others, so only its owners can change them.',
        errors: {
          forbidden: installationOnly,
          conflict: `The organization has set the limits of ${sitesMax} sites.`,
          validation_failed: 'The site is neither listed nor a domain.',
        },
        params: SiteParams,
        body: Type.Object({ messages_per_second: perSecond, messages_per_day: perDay }),
        response: answers(SiteOut),
      },
      handler: async (request) => {
        const organizationId = organizationIdOf(request)
        const site = siteIn(request.params.site)
        const { messages_per_second: messagesPerSecond, messages_per_day: messagesPerDay } = request.body
        const limits = { messagesPerSecond, messagesPerDay }
        if (!(await upsertLimits(db.statement, organizationId, site, limits, sitesMax)))
          throw conflict(`You have set the limits of ${sitesMax} sites. Reset others first.`)
        return changed(organizationId, site)
      },
    })

    api.delete('/receiving-sites/:site', {
      config: changing,
      schema: {
        operationId: 'resetReceivingSite',
        summary: 'Reset a receiving site',
        description:
          'The default limits apply again, and the site is no longer slowed down. In the organization of the operator, only owners can do this.',
        errors: { forbidden: installationOnly, validation_failed: 'The site is neither listed nor a domain.' },
        params: SiteParams,
        response: answers(SiteOut),
      },
      handler: async (request) => {
        const organizationId = organizationIdOf(request)
        const site = siteIn(request.params.site)
        await resetSite(db.statement, organizationId, site)
        return changed(organizationId, site)
      },
    })
  }

  async function changed(organizationId: OrganizationId, site: string) {
    await sites.changed(organizationId)
    return ok(siteOut(await siteView(db, organizationId, site)))
  }
}

/** Throws `Refusal` if it is neither a listed site nor a domain. */
function siteIn(text: string): string {
  const site = text.toLowerCase()
  if (shippedSite(site)) return site
  const domain = asciiDomain(site)
  if (!domain?.includes('.')) throw invalid({ path: 'site', problem: 'must be a listed site or a domain' })
  return domain
}

const siteOut = (view: SiteView) => ({
  site: view.site,
  name: view.name,
  domains: [...view.domains],
  mx_suffixes: [...view.mxSuffixes],
  messages_per_second: view.messagesPerSecond,
  messages_per_day: view.messagesPerDay,
  is_changed: view.isChanged,
  default_messages_per_second: view.defaults.messagesPerSecond,
  default_messages_per_day: view.defaults.messagesPerDay,
  slowed_until: view.slowedUntil?.toISOString() ?? null,
  slowed_reason: view.slowedReason,
})
