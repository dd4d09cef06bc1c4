/** Emails to this domain are never passed to a mail server. It cannot exist: `.test` is reserved. */
export const simulatorDomain = 'simulator.waxwing.test'

/** Emails to people of the demo stay in the built-in inbox, also if there are mail servers. */
export const demoDomain = 'waxwing.test'

export const isDemoAddress = (email: string): boolean => email.endsWith(`@${demoDomain}`)

/** What happens to an email to these addresses at that domain, each also with a `+suffix`. */
export const simulatedBehaviours = [
  'delivered',
  'hard-bounce',
  'soft-bounce',
  'deferred',
  'complaint',
  'open',
  'click',
  'unsubscribe',
] as const
export type SimulatedBehaviour = (typeof simulatedBehaviours)[number]

/** Returns undefined for addresses of other domains, and `unknown` for those at ours that do nothing. */
export function simulatedBehaviour(email: string): SimulatedBehaviour | 'unknown' | undefined {
  const at = email.length - simulatorDomain.length
  if (email[at - 1] !== '@' || email.slice(at).toLowerCase() !== simulatorDomain) return undefined
  const name = email
    .slice(0, at - 1)
    .replace(/\+.*$/s, '')
    .toLowerCase()
  return simulatedBehaviours.find((behaviour) => behaviour === name) ?? 'unknown'
}
