import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { organizationIdOf, targetOf } from '../../accounts/accounts.ts'
import type { BoundedRead } from '../../platform/db/bounded-read.ts'
import {
  answers,
  created,
  creates,
  IdParams,
  Named,
  Nothing,
  Nullable,
  ok,
  oneOf,
  Timestamp,
} from '../../platform/http/envelope.ts'
import { tagRoutes } from '../../platform/http/tags.ts'
import type { Stage } from '../../platform/runtime/stage.ts'
import { existing } from '../../platform/values/errors.ts'
import { toText } from '../../platform/values/ids.ts'
import { checksOf, notChecked } from './check-records.ts'
import type { Domain } from './domain.ts'
import { selectDomain, selectDomains } from './domains.sql.ts'
import { addDomain, changeLabels, type DomainParts, removeDomain, rotateKey, verifyDomain } from './domains.ts'
import { type DomainHosts, recordsOf, relativeName } from './records.ts'
import { WarmUpPlan } from './warm-up.routes.ts'

const RecordOut = Named('DomainRecord', {
  purpose: oneOf('ownership', 'dkim', 'spf', 'dmarc', 'return_path', 'tracking'),
  type: oneOf('TXT', 'MX', 'CNAME', 'A', 'AAAA'),
  name: Type.String({ description: 'The full name.' }),
  relative_name: Type.String({ description: 'The name as most DNS panels want it, without the registered domain.' }),
  value: Type.String(),
  required: Type.Boolean({ description: 'Whether the domain is verified only if this record is published.' }),
  status: oneOf('missing', 'wrong', 'ok', 'unknown'),
  found: Nullable(Type.String({ description: 'What is published instead.' })),
  detail: Nullable(Type.String({ description: 'What is wrong, in a sentence.' })),
})

const DomainOut = Named('Domain', {
  id: Type.String(),
  name: Type.String(),
  status: oneOf('pending', 'verified', 'warning', 'unverified'),
  records: Type.Array(RecordOut),
  tracking_label: Type.String({ description: 'The first part of the name of the host of links, such as `links`.' }),
  return_path_label: Type.String({ description: 'The first part of the name of the host that receives bounces.' }),
  is_rotating: Type.Boolean({ description: 'Whether a second DKIM key waits for its record.' }),
  warm_up_plan: Nullable(WarmUpPlan),
  failing_since: Nullable(Timestamp),
  verified_at: Nullable(Timestamp),
  checked_at: Nullable(Timestamp),
  created_at: Timestamp,
})

const labelOf = (description: string) => Type.Optional(Type.String({ minLength: 1, maxLength: 63, description }))
const Labels = {
  tracking_label: labelOf('The first part of the name of the host of links. `links` if omitted in a new domain.'),
  return_path_label: labelOf(
    'The first part of the name of the host that receives bounces. `bounces` if omitted in a new domain.',
  ),
}

export type DomainRouteParts = DomainParts & { read: BoundedRead; checks: Stage }

export function domainRoutes(parts: DomainRouteParts): FastifyPluginAsyncTypebox {
  const { db, read } = parts
  const out = async (domain: Domain) =>
    domainOut(domain, parts.hosts, await parts.spfSources(domain.organizationId, domain.name))
  const stage = parts.checks
  return async (api) => {
    tagRoutes(api, 'Domains')
    api.get('/domains', {
      config: { permission: 'domains:read' },
      schema: {
        operationId: 'listDomains',
        summary: 'List domains',
        description: 'All domains of the organization with the DNS records to publish and their last check.',
        response: answers(Type.Array(DomainOut)),
      },
      handler: async (request) =>
        ok(await Promise.all((await read(organizationIdOf(request), selectDomains)).map(out))),
    })

    api.post('/domains', {
      config: { permission: 'domains:write' },
      schema: {
        operationId: 'createDomain',
        summary: 'Add a domain',
        description: `Makes a DKIM key, which never leaves the service, and returns the DNS records to publish. The domain is \`verified\` when the records for \`ownership\` and \`dkim\` are found; the others are recommended. Until then they are looked up every minute, later less often.

Emails from a verified domain carry its own hosts as soon as their records are found: links have the host of the record \`tracking\`, and bounces are returned to that of \`return_path\`, which is only asked for if this installation receives bounces by email. Their names begin with \`tracking_label\` and \`return_path_label\`, by default \`links\` and \`bounces\`.

The record for \`spf\` allows the mail servers that may carry email from the domain. If one is published, \`value\` also contains what it says. No record is returned that would lead to this machine or a private network.

A domain is verified by one organization only.`,
        errors: {
          conflict: 'You have added this domain, or another organization has verified it.',
          validation_failed: 'The name is not a domain that can be registered, or a label cannot be used.',
        },
        body: Type.Object({ name: Type.String({ minLength: 1, maxLength: 300 }), ...Labels }),
        response: creates(DomainOut),
      },
      handler: async (request, reply) => {
        const organizationId = organizationIdOf(request)
        // Making a key takes about a tenth of a second of CPU time.
        const domain = await stage.run(organizationId, () => addDomain(parts, organizationId, request.body))
        return reply.status(201).send(created(await out(domain)))
      },
    })

    api.get('/domains/:id', {
      config: { permission: 'domains:read' },
      schema: {
        operationId: 'getDomain',
        summary: 'Get a domain',
        description: 'With the records as they were found by the last check.',
        params: IdParams,
        response: answers(DomainOut),
      },
      handler: async (request) =>
        ok(await out(await existing('domain', selectDomain(db, ...targetOf(request, 'dom'))))),
    })

    api.patch('/domains/:id', {
      config: { permission: 'domains:write' },
      schema: {
        operationId: 'updateDomain',
        summary: 'Change the hosts of a domain',
        description:
          'Emails carry a new host once its record is found, and the host of the installation until then. Links in emails that were sent keep the old host, and no new certificates are requested for it.',
        errors: { validation_failed: 'A label cannot be used.' },
        params: IdParams,
        body: Type.Object(Labels),
        response: answers(DomainOut),
      },
      handler: async (request) => ok(await out(await changeLabels(parts, ...targetOf(request, 'dom'), request.body))),
    })

    api.post('/domains/:id/verify', {
      config: { permission: 'domains:write' },
      schema: {
        operationId: 'verifyDomain',
        summary: 'Check the records of a domain',
        description: `Asks the name servers of the domain, which takes up to a few seconds. A record is \`unknown\` if they do not answer, which changes nothing.

A verified domain whose required records vanish becomes a \`warning\` and is still used. After 24 hours it is \`unverified\`. If the record of a host vanishes, new emails carry the host of the installation.`,
        errors: { conflict: 'Another organization has verified this domain.' },
        params: IdParams,
        response: answers(DomainOut),
      },
      handler: async (request) => {
        const [organizationId, id] = targetOf(request, 'dom')
        const domain = await existing('domain', selectDomain(db, organizationId, id))
        return ok(await out(await stage.run(organizationId, () => verifyDomain(parts, domain))))
      },
    })

    api.post('/domains/:id/rotate-key', {
      config: { permission: 'domains:write' },
      schema: {
        operationId: 'rotateDomainKey',
        summary: 'Rotate the DKIM key of a domain',
        description:
          'Makes a second key and returns its record as well. Email is signed with the new key once its record is found. Keep the record of the old key for a week, because receivers may check email later.',
        errors: { conflict: 'A rotation has begun and is not finished.' },
        params: IdParams,
        response: answers(DomainOut),
      },
      handler: async (request) => {
        const target = targetOf(request, 'dom')
        return ok(await out(await stage.run(target[0], () => rotateKey(parts, ...target))))
      },
    })

    api.delete('/domains/:id', {
      config: { permission: 'domains:write' },
      schema: {
        operationId: 'deleteDomain',
        summary: 'Delete a domain',
        description:
          'Its keys are deleted. Email from this domain is no longer signed for it and carries the hosts of the installation. This cannot be undone.',
        params: IdParams,
        response: answers(Nothing),
      },
      handler: async (request) => {
        await removeDomain(parts, ...targetOf(request, 'dom'))
        return ok(null, 'Domain deleted')
      },
    })
  }
}

function domainOut(domain: Domain, hosts: DomainHosts, spfSources: readonly string[]) {
  const checks = checksOf(domain, spfSources)
  const { id, name, status, nextSelector, failingSince, verifiedAt, checkedAt, createdAt } = domain
  return {
    id: toText('dom', id),
    name,
    status,
    records: recordsOf(domain, hosts, spfSources).map(({ key, purpose, type, name: recordName, value, required }) => ({
      ...{ purpose, type, name: recordName, relative_name: relativeName(recordName), value, required },
      ...(checks[key] ?? notChecked),
    })),
    tracking_label: domain.trackingLabel,
    return_path_label: domain.returnPathLabel,
    is_rotating: nextSelector !== null,
    warm_up_plan: domain.warmUpPlan,
    failing_since: failingSince?.toISOString() ?? null,
    verified_at: verifiedAt?.toISOString() ?? null,
    checked_at: checkedAt?.toISOString() ?? null,
    created_at: createdAt.toISOString(),
  }
}
