import { parseEmail } from '../values/email.ts'
import { Refusal } from '../values/errors.ts'

export type SenderPolicyOptions = {
  /** False: every address may be used and everything is signed. */
  isEnforced: boolean
  /** `example.com` for addresses at exactly this domain, `*.example.com` for those at its subdomains. */
  allowedDomains: readonly string[]
  /** The address of MAIL_FROM, which every organization may use. */
  defaultSender: string
  /** The domain that outgoing mail is signed for, if any. */
  dkimDomain: string | undefined
}

export type SenderPolicy = {
  /** Whether mail may be sent from this address. */
  allows(address: string): boolean
  /** Throws a `Refusal` if the address may not be used. Null stands for the default sender. */
  check(address: string | null): void
  /** Whether mail from this address gets our DKIM signature. */
  signs(address: string): boolean
}

/**
 * Decides which From addresses this service sends and signs. An operator who lets strangers register must not lend them
 * the reputation of every domain: they get the default sender and the domains that the operator names.
 *
 * Of MAIL_FROM only the address itself is allowed, not its whole domain: otherwise any organization could write as
 * ceo@ that domain.
 */
export function createSenderPolicy(options: SenderPolicyOptions): SenderPolicy {
  const { isEnforced, dkimDomain } = options
  const domains = new Set(options.allowedDomains)
  const defaultKey = keyOf(options.defaultSender)

  const allows = (address: string): boolean => {
    if (!isEnforced) return true
    const key = keyOf(address)
    if (key === undefined) return false
    return key === defaultKey || isWithin(domainOf(key), domains)
  }
  return {
    allows,
    check(address) {
      if (address !== null && !allows(address)) throw senderNotVerified(address)
    },
    signs(address) {
      if (!isEnforced) return true
      const key = keyOf(address)
      if (key === undefined || dkimDomain === undefined || !allows(address)) return false
      const domain = domainOf(key)
      return domain === dkimDomain || domain.endsWith(`.${dkimDomain}`)
    },
  }
}

/** The reason that a message is stored with if its sender may no longer be used when it is due. */
export const senderNotVerifiedReason = (address: string) =>
  `sender not verified: this service does not send from ${domainOf(address)}`

function senderNotVerified(address: string): Refusal {
  const problem = `This service does not send from ${domainOf(address)}. Use an address of an allowed domain, or leave it empty to use the default sender.`
  return new Refusal('sender_not_verified', problem, { fields: [{ path: 'from_email', problem }] })
}

const domainOf = (address: string) => address.slice(address.lastIndexOf('@') + 1)

/** As addresses are compared: in lower case, the domain in ASCII. Undefined for what is not an address. */
function keyOf(address: string): string | undefined {
  const parsed = parseEmail(address)
  return parsed.ok ? parsed.key : undefined
}

function isWithin(domain: string, domains: ReadonlySet<string>): boolean {
  if (domains.has(domain)) return true
  for (let dot = domain.indexOf('.'); dot !== -1; dot = domain.indexOf('.', dot + 1))
    if (domains.has(`*${domain.slice(dot)}`)) return true
  return false
}
