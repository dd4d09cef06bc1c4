import { domainOfAddress } from '../../platform/values/domain.ts'
import { parseEmail } from '../../platform/values/email.ts'
import { Refusal } from '../../platform/values/errors.ts'

export type SenderPolicyOptions = {
  /** If false, every address may be used and every email is signed. */
  isEnforced: boolean
  /** `example.com` for addresses at exactly this domain, `*.example.com` for those at its subdomains. */
  allowedDomains: readonly string[]
  /** The address of MAIL_FROM, which every organization may use. */
  defaultSender: string
  /** The domain for which outgoing email is signed, if any. */
  dkimDomain: string | undefined
}

/** What the operator allows all organizations. */
export type SenderPolicy = {
  /** Returns true if the operator has set this address, or its domain, as a sender. */
  provides(address: string): boolean
  /** Returns true if email may be sent from this address. */
  allows(address: string): boolean
  /** Returns true if email from this address is signed with our DKIM key. */
  signs(address: string): boolean
}

/**
 * Decides which From addresses may be used and are signed. With open sign-up, organizations may use only the default
 * sender and the domains that the operator allows, to protect the reputation of other domains.
 *
 * Only the address in MAIL_FROM is allowed, not its whole domain: otherwise any organization could send as ceo@ that
 * domain.
 */
export function createSenderPolicy(options: SenderPolicyOptions): SenderPolicy {
  const { isEnforced, dkimDomain } = options
  const domains = new Set(options.allowedDomains)
  const defaultKey = keyOf(options.defaultSender)

  const provides = (address: string): boolean => {
    const key = keyOf(address)
    if (key === undefined) return false
    return key === defaultKey || isWithin(domainOfAddress(key), domains)
  }
  const allows = (address: string): boolean => !isEnforced || provides(address)
  return {
    provides,
    allows,
    signs(address) {
      if (!isEnforced) return true
      const key = keyOf(address)
      if (key === undefined || dkimDomain === undefined || !allows(address)) return false
      const domain = domainOfAddress(key)
      return domain === dkimDomain || domain.endsWith(`.${dkimDomain}`)
    },
  }
}

/** The reason stored with a message whose sender is no longer allowed when it is due. */
export const senderNotVerifiedReason = (address: string) =>
  `sender not verified: this service does not send from ${domainOfAddress(address)}`

/** `path` is the field with the address: `from_email` of a flow, which may be empty, or `from` of an email. */
export function senderNotVerified(address: string, path: string): Refusal {
  const instead = path === 'from_email' ? ', or leave it empty to use the default sender' : ''
  const problem = `This service does not send from ${domainOfAddress(address)}. Verify the domain, or use an address of an allowed domain${instead}.`
  return new Refusal('sender_not_verified', problem, { fields: [{ path, problem }] })
}

/** Returns the key by which addresses are compared, or undefined if the address is invalid. */
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
