import { createHash } from 'node:crypto'
import type { SecretBox } from '../../platform/secrets/secrets.ts'
import { hourMs } from '../../platform/values/durations.ts'
import type { OrganizationId } from '../../platform/values/ids.ts'
import { credentialsOf, type Target } from './settings.ts'

/** A mail server may have changed since. */
const validMs = hourMs

type Tested = { organizationId: OrganizationId; settings: string; at: number }

const settingsHash = (target: Target) =>
  createHash('sha256')
    .update(JSON.stringify([credentialsOf(target), target.connection.username]))
    .digest('hex')

/** Shows that settings were tested with success, so that nothing has to be stored for those that are not added. */
export function testToken(box: SecretBox, organizationId: OrganizationId, target: Target): string {
  const tested: Tested = { organizationId, settings: settingsHash(target), at: Date.now() }
  return box.seal(JSON.stringify(tested)).toString('base64url')
}

/** Returns when these settings were tested with success, or undefined if the token does not show that. */
export function testedAt(
  box: SecretBox,
  organizationId: OrganizationId,
  target: Target,
  token: string | undefined,
): Date | undefined {
  const text = token === undefined ? undefined : box.open(Buffer.from(token, 'base64url'))
  if (text === undefined) return undefined
  const tested = JSON.parse(text) as Partial<Tested>
  const isSame = tested.organizationId === organizationId && tested.settings === settingsHash(target)
  return isSame && tested.at && tested.at > Date.now() - validMs ? new Date(tested.at) : undefined
}
