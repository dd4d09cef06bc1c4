import { expect, test } from 'vitest'
import { machineReason } from './machine.ts'

const firefox = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'

test('mail apps and browsers count as human', () => {
  for (const agent of [
    firefox,
    'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko)',
    'Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148',
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/138.0.0.0 Safari/537.36 Edg/138.0.0.0',
    'Microsoft Office/16.0 (Windows NT 10.0; Microsoft Outlook 16.0.17328; Pro)',
    'Mozilla/4.0 (compatible; MSIE 7.0; Windows NT 10.0; Win64; x64; Trident/7.0; ms-office; MSOffice 16)',
    'Mozilla/5.0 (Linux; Android 9; CUBOT X19 Build/PPR1.180610.011) AppleWebKit/537.36 Chrome/99.0 Mobile Safari/537.36',
    'Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Thunderbird/128.5.0',
    'Mozilla/5.0 (Linux; Android 14; SM-S911B) AppleWebKit/537.36 (KHTML, like Gecko) SamsungBrowser/25.0 Chrome/121.0.0.0 Mobile Safari/537.36',
  ]) {
    expect(machineReason('open', agent)).toBeNull()
    expect(machineReason('click', agent)).toBeNull()
  }
})

test('images fetched by the proxies of Gmail and Yahoo count as human', () => {
  expect(
    machineReason('open', 'Mozilla/5.0 (Windows NT 5.1; rv:11.0) Gecko Firefox/11.0 (via ggpht.com GoogleImageProxy)'),
  ).toBeNull()
  expect(machineReason('open', 'YahooMailProxy; https://help.yahoo.com/kb/yahoo-mail-proxy-SLN28749.html')).toBeNull()
})

test('Apple’s privacy proxy is recognized by its exact user agent, on opens only', () => {
  expect(machineReason('open', 'Mozilla/5.0')).toBe('privacy_proxy')
  expect(machineReason('open', ' Mozilla/5.0 ')).toBe('privacy_proxy')
  expect(machineReason('click', 'Mozilla/5.0')).toBeNull()
  expect(machineReason('open', 'Mozilla/5.0 (Macintosh)')).toBeNull()
})

test('scanners, previews, crawlers and scripts are machines, each with its reason', () => {
  const agents: [string, string][] = [
    ['BarracudaCentral/1.0', 'security_scanner'],
    ['Mozilla/5.0 (compatible; Proofpoint URL Defense)', 'security_scanner'],
    ['Mozilla/5.0 (Mimecast; TTP)', 'security_scanner'],
    [
      'Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 (KHTML, like Gecko; compatible; BingPreview/1.0b) Chrome/80',
      'security_scanner',
    ],
    ['Mozilla/5.0 (compatible; Microsoft Defender SafeLinks)', 'security_scanner'],
    ['Google-Safety', 'security_scanner'],
    ['Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)', 'link_preview'],
    ['facebookexternalhit/1.1', 'link_preview'],
    ['WhatsApp/2.23.20.0', 'link_preview'],
    ['Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)', 'crawler'],
    ['Mozilla/5.0 (compatible; AhrefsBot/7.0)', 'crawler'],
    ['SomeSpider 1.0', 'crawler'],
    ['Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 HeadlessChrome/120.0', 'script'],
    ['python-requests/2.31.0', 'script'],
    ['curl/8.5.0', 'script'],
    ['Go-http-client/1.1', 'script'],
    ['Wget/1.21', 'script'],
  ]
  for (const [agent, reason] of agents) expect([agent, machineReason('click', agent)]).toEqual([agent, reason])
})

test('a hit without a user agent is made by a machine', () => {
  for (const agent of [undefined, null, '', '   ']) expect(machineReason('open', agent)).toBe('no_user_agent')
})

test('a very long user agent is classified quickly', () => {
  expect(machineReason('open', 'a'.repeat(1_000_000))).toBeNull()
  expect(machineReason('open', '-'.repeat(1_000_000))).toBeNull()
})
