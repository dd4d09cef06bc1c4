/**
 * Mobile carriers that answer "user unknown" after DATA if the subscriber's own filter refuses the mail. NTT docomo and au
 * document the same reply for both cases; SoftBank answers "invalid recipient". Only a reply to RCPT means that the address
 * does not exist.
 */
const carrierDomains = ['docomo.ne.jp', 'ezweb.ne.jp', 'au.com', 'softbank.ne.jp', 'vodafone.ne.jp']

/** Returns true if "user unknown" from the server of this recipient can also mean a filter of the recipient. */
export function hidesFilters(recipient: string | null): boolean {
  const domain = recipient?.slice(recipient.lastIndexOf('@') + 1) ?? ''
  return carrierDomains.some((known) => domain === known || domain.endsWith(`.${known}`))
}
