import { isLoopback } from '@waxwing/smtp-client'
import type { Config } from '../config/config.ts'

type TargetSettings = Pick<Config, 'EGRESS_ALLOW_PRIVATE' | 'SIGNUP' | 'HOST'>

/** `isExposed`: people other than the operator can create webhooks. */
export type PrivateTargetWarning = { isExposed: boolean; message: string }

/** Returns a warning if webhooks can reach private addresses, or undefined. */
export function privateTargetWarning({
  EGRESS_ALLOW_PRIVATE: isAllowed,
  SIGNUP: signup,
  HOST: host,
}: TargetSettings): PrivateTargetWarning | undefined {
  if (!isAllowed) return undefined
  const reach = 'Webhooks can reach services on this machine and in its network, and show what they answer'
  const cure = 'set EGRESS_ALLOW_PRIVATE=false unless this is a test installation'
  if (signup === 'open')
    return { isExposed: true, message: `${reach}; with SIGNUP=open anyone can create one: ${cure}.` }
  if (!isLoopback(host))
    return { isExposed: true, message: `${reach}; everyone with an account on ${host} can create one: ${cure}.` }
  return { isExposed: false, message: `${reach}: ${cure}.` }
}
