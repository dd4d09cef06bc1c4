/** Domains where anybody gets a mailbox, and nobody but the provider publishes records. The well-known ones. */
const names = new Set(
  `gmail.com googlemail.com outlook.com hotmail.com hotmail.co.uk live.com msn.com yahoo.com yahoo.co.uk ymail.com aol.com
  icloud.com me.com mac.com proton.me protonmail.com gmx.com gmx.net gmx.de gmx.at web.de t-online.de mail.com fastmail.com
  zohomail.com orange.fr free.fr laposte.net libero.it mail.ru yandex.ru qq.com 163.com`.split(/\s+/),
)

export const isPublicMailbox = (domain: string): boolean => names.has(domain)
