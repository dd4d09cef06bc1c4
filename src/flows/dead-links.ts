import { type Attribute, visitTags } from './html-tags.ts'

const linksMax = 10
const shownLengthMax = 100

/** A host and its port look like a scheme; a scheme with a dot in it, such as that of an app, is followed by slashes. */
const hasScheme = /^\s*(?:[a-z][a-z\d+-]*:|[a-z][a-z\d+.-]*:\/\/)/i
/** A place in the mail itself, nothing at all, or an address hidden from harvesters in numbers of characters. */
const isNoAddress = /^\s*(?:$|#|&#)/

/**
 * Says which links of a finished mail lead nowhere: a mail has no address that a relative one could belong to. Those that
 * are not `isSure` are left out.
 */
export function warnOfDeadLinks(html: string, isSure: (href: Attribute) => boolean): string[] {
  const dead = new Set<string>()
  visitTags(html, {
    wants: (name) => name === 'a' || name === 'area',
    visit: (_name, _start, attributes) => {
      const href = attributes.find(({ name }) => name === 'href')
      if (!href || hasScheme.test(href.value) || isNoAddress.test(href.value) || dead.size === linksMax) return
      if (isSure(href)) dead.add(href.value.trim().replaceAll('&amp;', '&'))
    },
  })
  return [...dead].map((link) => `The link "${shortened(link)}" has no https:// and leads nowhere in a mail.`)
}

const shortened = (link: string) => (link.length > shownLengthMax ? `${link.slice(0, shownLengthMax)}…` : link)
