import { createHash, randomBytes } from 'node:crypto'
import type { Refusal } from '../../platform/values/errors.ts'
import { type OrganizationId, parseId, toText } from '../../platform/values/ids.ts'

/** What a link is for. A token for one purpose is not found when it is used for another. */
export type LinkPurpose = 'inv' | 'rst' | 'eml'

/** The longest token that routes accept. */
export const linkTokenMax = 200

const secretBytes = 32

/**
 * Tokens of links in account emails contain the organization's id before the secret, so that only its own rows are
 * searched. Only the hash of the secret is stored: it has 256 random bits, so a slow hash is not needed.
 */
export type LinkToken = { organizationId: OrganizationId; tokenHash: Buffer }

const hashOf = (secret: string): Buffer => createHash('sha256').update(secret).digest()

export function createLinkToken(purpose: LinkPurpose, organizationId: OrganizationId) {
  const secret = randomBytes(secretBytes).toString('base64url')
  const organization = toText('org', organizationId).slice('org_'.length)
  return { token: `${purpose}_${organization}${secret}`, tokenHash: hashOf(secret) }
}

/** Throws `noLongerValid` if the text cannot be a token for this purpose. */
export function readLinkToken(purpose: LinkPurpose, token: string, noLongerValid: () => Refusal): LinkToken {
  const [, prefix, organization, secret] = /^([a-z]{3})_([0-9a-z]{26})([A-Za-z0-9_-]{43})$/.exec(token) ?? []
  const organizationId = parseId('org', `org_${organization}`)
  if (prefix !== purpose || !organizationId || !secret) throw noLongerValid()
  return { organizationId, tokenHash: hashOf(secret) }
}
