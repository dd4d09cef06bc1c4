import { destinationTokenLengthOf, emailTokenLength } from '../../platform/secrets/tokens.ts'
import { decodeEntities } from './html-entities.ts'
import { type Attribute, visitTags } from './html-tags.ts'
import { problemOfImage, problemOfLink } from './link-problems.ts'
import { Lines } from './problems.ts'
import { isAt, trackLinks } from './track-links.ts'

/** Each check reports this many findings at most. */
const findingsMax = 10
/** Links that are returned, so that they can be opened. */
export const linksMax = 50
const shownLengthMax = 60
/** What inboxes on computers show of a subject. Phones show about 40 characters. */
const subjectLengthShown = 70
/** Gmail shows about the first 102 KB of the HTML, and hides the rest behind a link. */
const weightMax = 100_000

export const checkNames = ['template', 'link', 'image', 'alt_text', 'subject', 'weight', 'postal_address'] as const

/** Something to correct before an email is sent. It does not prevent sending. */
export type Finding = {
  check: (typeof checkNames)[number]
  path: 'subject' | 'html'
  /** The place in the template, if it is known. */
  line?: number
  column?: number
  problem: string
  advice: string
}

export type CheckSettings = {
  /** The address of the organization; null if it is not set. */
  postalAddress: string | null
  /** The start of tracked links, and of links to this installation. */
  baseUrl: string
}

/** How the template shows the address of the organization. */
export type TemplateAddress = {
  /** Whether it contains `{{ brand.address }}`. */
  isRead: boolean
  /** The address that it was published with; null if there was none. */
  stored: string | null
}

export type CheckedEmail = CheckSettings & {
  subject: string
  templateAddress: TemplateAddress
  /** As it is rendered, before links are tracked. */
  html: string
  /** The HTML or MJML as it was written, in which findings are located. */
  source: string
  isMarketing: boolean
  unsubscribeUrl: string
  /** The parameters that are added to links. */
  utmQuery: string
  /** Returns false for an attribute that depends on a missing value. */
  isSure: (attribute: Attribute) => boolean
}

export type EmailCheck = {
  findings: Finding[]
  /** The http links, each once. */
  links: string[]
  /** The size of the HTML as it is sent, in bytes. */
  htmlBytes: number
}

/** Checks an email as it would be sent. Takes about 5 ms for a megabyte. */
export function checkEmail(email: CheckedEmail): EmailCheck {
  const places = new Places(email.source)
  const { found: links, all } = checkLinks(email, places)
  const htmlBytes = Buffer.byteLength(asSent(email))
  const findings = [
    ...checkSubject(email.subject),
    ...links,
    ...checkImages(email, places),
    ...checkWeight(htmlBytes),
    ...(email.isMarketing ? checkPostalAddress(email) : []),
  ]
  return { findings, links: all, htmlBytes }
}

function checkSubject(subject: string): Finding[] {
  const length = [...subject].length
  if (length === 0)
    return [{ check: 'subject', path: 'subject', problem: 'The subject is empty.', advice: 'Write a subject.' }]
  if (length <= subjectLengthShown) return []
  return [
    {
      check: 'subject',
      path: 'subject',
      problem: `The subject has ${length} characters. Inboxes show about ${subjectLengthShown} of them, phones about 40.`,
      advice: 'Shorten it, or put the most important words first.',
    },
  ]
}

function checkLinks({ html, baseUrl, unsubscribeUrl, isSure }: CheckedEmail, places: Places) {
  const seen = new Set<string>()
  const found: Finding[] = []
  const all: string[] = []
  visitTags(html, {
    wants: (name) => name === 'a' || name === 'area',
    visit: (_name, _start, attributes) => {
      const href = attributes.find(({ name }) => name === 'href')
      if (!href || !isSure(href)) return
      const link = (decodeEntities(href.value) ?? href.value).trim()
      if (seen.has(link) || link === unsubscribeUrl || isAt(baseUrl, link)) return
      seen.add(link)
      const problem = problemOfLink(link)
      if (problem) {
        if (found.length < findingsMax)
          found.push({ check: 'link', path: 'html', ...places.find(href.value), ...problem })
      } else if (/^https?:/i.test(link) && all.length < linksMax) all.push(link)
    },
  })
  return { found, all }
}

function checkImages({ html, baseUrl, isSure }: CheckedEmail, places: Places): Finding[] {
  const seen = new Set<string>()
  const broken: Finding[] = []
  const silent: Finding[] = []
  // The address of an uploaded image says nothing about it.
  const describe = (source: string) => (isAt(baseUrl, source) ? 'An image' : `The image "${nameOf(source)}"`)
  const addSilent = (attributes: readonly Attribute[], start: { line: number; column: number } | undefined) => {
    if (silent.length === findingsMax || attributes.some(({ name }) => name === 'alt') || isPixel(attributes)) return
    const source = attributes.find(({ name }) => name === 'src')?.value ?? ''
    silent.push({
      check: 'alt_text',
      path: 'html',
      ...(start ?? places.find(source)),
      problem: `${describe(source)} has no alt text, which is shown and read aloud instead of the image.`,
      advice: 'Describe it in a few words: alt="…". For decoration, write alt="".',
    })
  }
  visitTags(html, {
    wants: (name) => name === 'img',
    visit: (_name, _start, attributes) => {
      const source = attributes.find(({ name }) => name === 'src')
      const address = source && (decodeEntities(source.value) ?? source.value).trim()
      if (source && address !== undefined && isSure(source) && !seen.has(address) && !isAt(baseUrl, address)) {
        seen.add(address)
        const problem = problemOfImage(address)
        if (problem && broken.length < findingsMax)
          broken.push({ check: 'image', path: 'html', ...places.find(source.value), ...problem })
      }
      addSilent(attributes, undefined)
    },
  })
  // MJML adds an empty alt text to its images.
  for (const { attributes, start } of places.silentMjmlImages) addSilent(attributes, places.at(start))
  return [...broken, ...silent]
}

const isPixel = (attributes: readonly Attribute[]) =>
  attributes.some(({ name, value }) => (name === 'width' || name === 'height') && /^[01](?:px)?$/.test(value.trim()))

/** The last part of the address, as people know the file. */
function nameOf(source: string): string {
  const name =
    source
      .replace(/[?#].*$/s, '')
      .split('/')
      .at(-1) || source
  return name.length > shownLengthMax ? `${name.slice(0, shownLengthMax)}…` : name
}

function checkWeight(htmlBytes: number): Finding[] {
  if (htmlBytes <= weightMax) return []
  return [
    {
      check: 'weight',
      path: 'html',
      problem: `The email is ${Math.ceil(htmlBytes / 1_000)} KB. Gmail cuts off emails over ${weightMax / 1_000} KB, with the unsubscribe link at their end.`,
      advice: 'Shorten it, remove repeated styles, or move a part of it to a page and link to that.',
    },
  ]
}

const emailToken = 'x'.repeat(emailTokenLength)

/** The HTML with tracked links and the pixel, or rather with texts of the same length. */
function asSent({ html, baseUrl, unsubscribeUrl, utmQuery }: CheckedEmail): string {
  return trackLinks(html, {
    trackedUrl: (url, query) => `${baseUrl}/t/c/${emailToken}/${'x'.repeat(destinationTokenLengthOf(url, query))}`,
    pixelUrl: `${baseUrl}/t/o/${emailToken}`,
    unsubscribeUrl,
    utmQuery,
    baseUrl,
  })
}

function checkPostalAddress({ html, postalAddress, templateAddress }: CheckedEmail): Finding[] {
  if (/<address[\s>]/i.test(html)) return []
  const words = wordsOf(withoutTags(html))
  // A published email shows the address of that time.
  if ([postalAddress, templateAddress.stored].some((address) => address !== null && words.includes(wordsOf(address))))
    return []
  return [
    {
      check: 'postal_address',
      path: 'html',
      problem: 'The email does not contain your postal address. Many countries require it in marketing emails.',
      advice: adviceOnAddress(postalAddress, templateAddress),
    },
  ]
}

function adviceOnAddress(postalAddress: string | null, { isRead, stored }: TemplateAddress): string {
  if (!isRead) {
    const add = 'dd {{ brand.address }} to the footer.'
    return postalAddress === null ? `Set it under Brand, and a${add}` : `A${add}`
  }
  if (postalAddress === null) return 'Set it under Brand: the email has a place for it.'
  return stored === null
    ? 'Publish the flow again: it was published before you set the address.'
    : 'The template has a place for it, but does not show it to this recipient.'
}

function withoutTags(html: string): string {
  const text = html.replace(/<[^<>]*>/g, ' ')
  return decodeEntities(text) ?? text
}

/** Letters and digits only, so that commas, line breaks and entities make no difference. */
const wordsOf = (text: string) =>
  ` ${text
    .replace(/&[a-z]+;/gi, ' ')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()} `

type Tag = { attributes: readonly Attribute[]; start: number }

/** Where the addresses and images of an email are in its template. */
class Places {
  readonly silentMjmlImages: Tag[] = []
  readonly #lines: Lines
  readonly #starts = new Map<string, number>()

  constructor(source: string) {
    this.#lines = new Lines(source)
    visitTags(source, {
      wants: () => true,
      visit: (tag, start, attributes) => {
        for (const { name, value, start: at } of attributes)
          if ((name === 'href' || name === 'src') && !this.#starts.has(value)) this.#starts.set(value, at)
        const isSilent = tag === 'mj-image' && !attributes.some(({ name }) => name === 'alt')
        if (isSilent && this.silentMjmlImages.length < findingsMax) this.silentMjmlImages.push({ attributes, start })
      },
    })
  }

  at(position: number): { line: number; column: number } {
    return this.#lines.at(position)
  }

  /** Returns an empty object for a value that the template computes. */
  find(value: string): { line?: number; column?: number } {
    const start = this.#starts.get(value)
    return start === undefined ? {} : this.#lines.at(start)
  }
}
