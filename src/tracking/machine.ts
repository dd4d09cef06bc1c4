// Opens and clicks that no person made are labelled, never dropped: a label can be wrong, and a count that was never
// written cannot be put right.

/** Why a hit is taken for a machine's; the names are stored with the event. */
export type MachineReason =
  | 'privacy_proxy'
  | 'security_scanner'
  | 'link_preview'
  | 'crawler'
  | 'script'
  | 'no_user_agent'
  | 'burst'

const userAgentLengthMax = 1_000

// Left out on purpose: GoogleImageProxy and its kin, which fetch when a person opens the mail, and libraries that mail
// programs load images with, such as okhttp.
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
  // A Cubot is a telephone.
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

/** Null where a person is the likelier. */
export function machineReason(kind: 'open' | 'click', userAgent: string | null | undefined): MachineReason | null {
  const agent = userAgent?.trim().slice(0, userAgentLengthMax) ?? ''
  if (agent === '') return 'no_user_agent'
  // Apple Mail Privacy Protection loads every image, opened or not, and calls itself exactly this.
  if (kind === 'open' && agent === 'Mozilla/5.0') return 'privacy_proxy'
  return patterns.find(([, pattern]) => pattern.test(agent))?.[0] ?? null
}
