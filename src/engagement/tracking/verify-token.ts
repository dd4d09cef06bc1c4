import type { FastifyRequest } from 'fastify'
import { isHostOfAnother } from '../../delivery/delivery.ts'
import type { TokenPurpose, Tokens } from '../../platform/secrets/tokens.ts'

/**
 * Verifies the token of a link. Returns undefined if it was not signed for this purpose, or if the request was sent to
 * the host of another organization than that of the token.
 */
export function verifyToken<Purpose extends TokenPurpose>(
  tokens: Tokens,
  purpose: Purpose,
  token: string,
  request: Pick<FastifyRequest, 'linkHostOrganization'>,
) {
  const ids = tokens.verify(purpose, token)
  return ids && isHostOfAnother(request, ids.organizationId) ? undefined : ids
}
