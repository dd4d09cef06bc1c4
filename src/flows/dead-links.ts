import { decodeEntities } from './html-entities.ts'
import { type Attribute, visitTags } from './html-tags.ts'

const linksMax = 10
const shownLengthMax = 100

/** A host with a port looks like a scheme; a scheme with a dot, such as that of an app, is followed by slashes. */
const hasScheme = /^\s*(?:[a-z][a-z\d+-]*:|[a-z][a-z\d+.-]*:\/\/)/i
/** A fragment, an empty link, or an address obfuscated with character references. */
const isNoAddress = /^\s*(?:$|#|&#)/

/** Returns warnings about relative links of a rendered email, for which `isSure` returns true. They lead nowhere. */
export function warnOfDeadLinks(html: string, isSure: (href: Attribute) => boolean): string[] {
  const dead = new Set<string>()
  visitTags(html, {
    wants: (name) => name === 'a' || name === 'area',
    visit: (_name, _start, attributes) => {
      const href = attributes.find(({ name }) => name === 'href')
      if (!href || hasScheme.test(href.value) || isNoAddress.test(href.value) || dead.size === linksMax) return
      if (isSure(href)) dead.add((decodeEntities(href.value) ?? href.value).trim())
    },
  })
  return [...dead].map(
    (link) => `The link "${shortened(link)}" does not start with https:// and will not work in an email.`,
  )
}

const shortened = (link: string) => (link.length > shownLengthMax ? `${link.slice(0, shownLengthMax)}…` : link)
