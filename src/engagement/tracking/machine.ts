// Opens and clicks made by machines are labelled, not dropped: a label can be wrong, and a count that was never stored
// cannot be corrected.

/** Why a hit is considered to be made by a machine. Stored with the event. */
export type MachineReason =
  | 'privacy_proxy'
  | 'security_scanner'
  | 'link_preview'
  | 'crawler'
  | 'script'
  | 'no_user_agent'
  | 'burst'

const userAgentLengthMax = 1_000

// Deliberately not included: GoogleImageProxy and similar ones, which fetch when a person opens the email, and HTTP
// libraries of mail apps, such as okhttp.
const patterns: [MachineReason, RegExp][] = [
  [
    'security_scanner',
    alternatives(`
      barracuda proofpoint mimecast messagelabs symantec sophos trendmicro trend\\smicro fireeye trellix mcafee fortinet
      forcepoint websense cloudmark ironport cisco-?(?:esa|secure) checkpoint zscaler avanan vade\\s?secure \\barea\\s?1\\b
      safelinks microsoft\\s(?:defender|office\\sexistence) bingpreview google-?safety safebrowsing urlscan virustotal
      kaspersky bitdefender \\beset\\b netcraft phish malware antivirus security\\s?scan`),
  ],
  [
    'link_preview',
    alternatives(`
      slackbot slack-imgproxy twitterbot facebookexternalhit facebot linkedinbot ^whatsapp/ telegrambot discordbot
      skypeuripreview embedly iframely link\\s?preview mastodon redditbot`),
  ],
  // Cubot is a brand of phones.
  [
    'crawler',
    alternatives(
      '(?<!cu)bot(?![a-z]) crawler spider slurp mediapartners ia_archiver uptime pingdom statuscake lighthouse',
    ),
  ],
  [
    'script',
    alternatives(`
      headlesschrome phantomjs puppeteer playwright selenium python[-/] ^python curl/ wget/ libwww lwp:: java/ go-http-client
      node-fetch undici axios/ ^node$ ^got ^ruby ^php guzzle httpclient httpie postman scrapy aiohttp powershell`),
  ],
]

function alternatives(words: string): RegExp {
  return new RegExp(words.trim().split(/\s+/).join('|'), 'i')
}

/** Returns null if the hit was probably made by a person. */
export function machineReason(kind: 'open' | 'click', userAgent: string | null | undefined): MachineReason | null {
  const agent = userAgent?.trim().slice(0, userAgentLengthMax) ?? ''
  if (agent === '') return 'no_user_agent'
  // Apple Mail Privacy Protection loads every image, opened or not, with exactly this user agent.
  if (kind === 'open' && agent === 'Mozilla/5.0') return 'privacy_proxy'
  return patterns.find(([, pattern]) => pattern.test(agent))?.[0] ?? null
}
