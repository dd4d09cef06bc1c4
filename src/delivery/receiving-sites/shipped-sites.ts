export type ShippedSite = {
  id: string
  name: string
  /** Domains that need no look-up. */
  domains: readonly string[]
  /** Ends of the names of MX hosts. */
  mxSuffixes: readonly string[]
  perSecond: number
}

/**
 * Starting values for a mail server with a good reputation. Providers publish rules and hardly any numbers; the suffixes and
 * proportions follow what operators of large mail servers use.
 */
export const shippedSites: readonly ShippedSite[] = [
  {
    id: 'google',
    name: 'Google',
    domains: ['gmail.com', 'googlemail.com'],
    mxSuffixes: ['.google.com', '.googlemail.com', '.smtp.goog'],
    perSecond: 20,
  },
  {
    id: 'microsoft',
    name: 'Outlook.com',
    domains: [
      'outlook.com',
      'hotmail.com',
      'live.com',
      'msn.com',
      'hotmail.co.uk',
      'hotmail.fr',
      'outlook.de',
      'live.de',
    ],
    mxSuffixes: ['.olc.protection.outlook.com'],
    perSecond: 10,
  },
  {
    id: 'microsoft365',
    name: 'Microsoft 365',
    domains: [],
    mxSuffixes: ['.mail.protection.outlook.com', '.mx.microsoft'],
    perSecond: 20,
  },
  {
    id: 'yahoo',
    name: 'Yahoo and AOL',
    domains: ['yahoo.com', 'aol.com', 'ymail.com', 'rocketmail.com', 'yahoo.co.uk', 'yahoo.fr', 'yahoo.de', 'yahoo.it'],
    mxSuffixes: ['.yahoodns.net'],
    perSecond: 10,
  },
  {
    id: 'apple',
    name: 'Apple',
    domains: ['icloud.com', 'me.com', 'mac.com'],
    mxSuffixes: ['.icloud.com', '.apple.com'],
    perSecond: 5,
  },
  {
    id: 'gmx',
    name: 'GMX, WEB.DE and mail.com',
    domains: ['gmx.de', 'gmx.net', 'gmx.at', 'gmx.ch', 'gmx.com', 'web.de', 'mail.com'],
    mxSuffixes: ['.gmx.net', '.web.de', '.mail.com'],
    perSecond: 5,
  },
  {
    id: 't-online',
    name: 'Telekom (t-online.de)',
    domains: ['t-online.de', 'magenta.de'],
    mxSuffixes: ['.t-online.de'],
    perSecond: 2,
  },
  {
    id: 'orange',
    name: 'Orange',
    domains: ['orange.fr', 'wanadoo.fr'],
    mxSuffixes: ['.orange.fr', '.wanadoo.fr'],
    perSecond: 2,
  },
  { id: 'free', name: 'Free', domains: ['free.fr'], mxSuffixes: ['.free.fr', '.proxad.net'], perSecond: 1 },
  {
    id: 'comcast',
    name: 'Comcast',
    domains: ['comcast.net'],
    mxSuffixes: ['.comcast.net'],
    perSecond: 10,
  },
  {
    id: 'proton',
    name: 'Proton',
    domains: ['proton.me', 'protonmail.com'],
    mxSuffixes: ['.protonmail.ch'],
    perSecond: 5,
  },
  { id: 'fastmail', name: 'Fastmail', domains: ['fastmail.com'], mxSuffixes: ['.messagingengine.com'], perSecond: 5 },
  { id: 'zoho', name: 'Zoho', domains: ['zoho.com'], mxSuffixes: ['.zoho.com', '.zoho.eu', '.zoho.in'], perSecond: 5 },
  {
    id: 'yandex',
    name: 'Yandex',
    domains: ['yandex.ru', 'ya.ru'],
    mxSuffixes: ['.yandex.ru', '.yandex.net'],
    perSecond: 5,
  },
  { id: 'mailru', name: 'Mail.ru', domains: ['mail.ru', 'bk.ru', 'list.ru'], mxSuffixes: ['.mail.ru'], perSecond: 5 },
  { id: 'qq', name: 'QQ', domains: ['qq.com', 'foxmail.com'], mxSuffixes: ['.qq.com'], perSecond: 2 },
  {
    id: 'netease',
    name: 'NetEase',
    domains: ['163.com', '126.com', 'yeah.net'],
    mxSuffixes: ['.163.com', '.netease.com'],
    perSecond: 2,
  },
  {
    id: 'mimecast',
    name: 'Mimecast',
    domains: [],
    mxSuffixes: ['.mimecast.com', '.mimecast.co.za', '.mimecast-offshore.com'],
    perSecond: 10,
  },
  {
    id: 'proofpoint',
    name: 'Proofpoint',
    domains: [],
    mxSuffixes: ['.pphosted.com', '.ppe-hosted.com'],
    perSecond: 10,
  },
  { id: 'barracuda', name: 'Barracuda', domains: [], mxSuffixes: ['.barracudanetworks.com'], perSecond: 10 },
  { id: 'cisco', name: 'Cisco', domains: [], mxSuffixes: ['.iphmx.com'], perSecond: 10 },
]

const sitesById = new Map(shippedSites.map((site) => [site.id, site]))
const sitesByDomain = new Map(shippedSites.flatMap(({ id, domains }) => domains.map((domain) => [domain, id])))

export const shippedSite = (id: string): ShippedSite | undefined => sitesById.get(id)

/** Returns the site of a domain that is known without a look-up. */
export const siteOfKnownDomain = (domain: string): string | undefined => sitesByDomain.get(domain)

/** Returns the site of an MX host, or undefined if it is none of those listed. */
export const siteOfMxHost = (host: string): string | undefined =>
  shippedSites.find(({ mxSuffixes }) => mxSuffixes.some((suffix) => `.${host}`.endsWith(suffix)))?.id

/** The name of a site for people. Sites that are not listed are called by their domain. */
export const siteName = (id: string): string => shippedSite(id)?.name ?? id
