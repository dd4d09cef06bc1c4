import { hourMs, minuteMs } from '../../platform/values/durations.ts'
import type { Checks, Domain, DomainStatus, RecordCheck } from './domain.ts'

/** How long a verified domain may be used after a required record has vanished. */
const warningMs = 24 * hourMs

export type Transition = {
  status: DomainStatus
  failingSince: Date | null
  /** True if the record of the next key was found: email is signed with it from now on. */
  switchesKey: boolean
}

export type HostUse = Pick<Domain, 'usesTrackingHost' | 'usesReturnPath'>

/**
 * Decides which hosts new emails carry. A record that has vanished or changed ends the use at once, since links would be
 * dead and bounces lost. A query without an answer changes nothing.
 */
export function hostUseOf(domain: HostUse, checks: Checks): HostUse {
  return {
    usesTrackingHost: isUsable(checks.tracking, domain.usesTrackingHost),
    usesReturnPath: isUsable(checks.return_path, domain.usesReturnPath),
  }
}

function isUsable(check: RecordCheck | undefined, isUsed: boolean): boolean {
  // There is nothing to publish, so nothing leads to the host.
  if (check === undefined) return false
  return check.status === 'unknown' ? isUsed : check.status === 'ok'
}

/**
 * Decides what a check changes. A query without an answer changes nothing: a domain is neither verified nor unverified
 * by it. `canSign` is false if the private key is lost, which ends the use at once: receivers reject unsigned email.
 */
export function transitionOf(
  domain: Pick<Domain, 'status' | 'failingSince'>,
  checks: Checks,
  now: Date,
  canSign: boolean,
): Transition {
  const switchesKey = checks.next_dkim?.status === 'ok'
  const { status, failingSince } = domain
  const dkim = switchesKey ? 'ok' : checks.dkim?.status
  const required = [checks.ownership?.status, dkim]
  if (required.every((each) => each === 'ok')) return { status: 'verified', failingSince: null, switchesKey }
  if (!canSign && isUsed(status)) return { status: 'unverified', failingSince: failingSince ?? now, switchesKey: false }
  const isBroken = required.some((each) => each === 'missing' || each === 'wrong')
  if (!isBroken) return { status, failingSince, switchesKey: false }
  if (status === 'verified') return { status: 'warning', failingSince: now, switchesKey: false }
  if (status === 'warning' && now.getTime() - failingSince!.getTime() >= warningMs)
    return { status: 'unverified', failingSince, switchesKey: false }
  return { status, failingSince, switchesKey: false }
}

/** Whether new email may be sent from the domain. */
export const isUsed = (status: DomainStatus): boolean => status === 'verified' || status === 'warning'

/** Often while someone waits for the result, and seldom for domains that nobody finishes. */
export function nextCheckMs({ status, createdAt }: Pick<Domain, 'status' | 'createdAt'>, now: Date): number {
  if (status === 'verified') return hourMs
  if (status === 'warning') return 10 * minuteMs
  const ageMs = now.getTime() - createdAt.getTime()
  if (ageMs < hourMs) return minuteMs
  return ageMs < 48 * hourMs ? 15 * minuteMs : 12 * hourMs
}
