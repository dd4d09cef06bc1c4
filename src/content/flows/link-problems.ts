import { isIP } from 'node:net'
import { isPublicAddress } from '../../platform/egress/addresses.ts'
import { parseWebAddress } from './web-address.ts'

export type LinkProblem = { problem: string; advice: string }

const shownLengthMax = 100

/** A host with a port looks like a scheme; a scheme with a dot, such as that of an app, is followed by slashes. */
const hasScheme = /^(?:[a-z][a-z\d+-]*:|[a-z][a-z\d+.-]*:\/\/)/i
const isWeb = /^https?:/i
/** Mail apps remove links with these schemes. */
const isBlocked = /^(?:javascript|vbscript|data|file|blob|about):/i
/** Names that are reserved for documentation and tests (RFC 2606, RFC 6761), or that only a local network knows. */
const testNames = /(?:^|\.)(?:example(?:\.(?:com|net|org))?|test|invalid|localhost|local|internal)$/i

const shorten = (text: string) => (text.length > shownLengthMax ? `${text.slice(0, shownLengthMax)}…` : text)

/** Returns undefined if the link works in an email as far as its text tells. `link` has no entities. */
export function problemOfLink(link: string): LinkProblem | undefined {
  const shown = `The link "${shorten(link)}"`
  if (link === '' || link === '#')
    return { problem: 'A link has no address.', advice: 'Add the address to the link, or remove the link.' }
  if (link.startsWith('#')) return undefined
  if (isBlocked.test(link))
    return { problem: `${shown} does not work in an email: mail apps remove it.`, advice: 'Link to a page instead.' }
  if (/^mailto:(?:\?|$)/i.test(link))
    return { problem: `${shown} has no email address.`, advice: 'Add the address after mailto:.' }
  if (!hasScheme.test(link)) return relativeProblem(shown)
  return isWeb.test(link) ? problemOfWebAddress(shown, link) : undefined
}

/** Like `problemOfLink`, for the address of an image. */
export function problemOfImage(source: string): LinkProblem | undefined {
  const shown = `The image "${shorten(source)}"`
  if (source === '') return { problem: 'An image has no address.', advice: 'Choose an image, or remove it.' }
  if (/^cid:/i.test(source)) return undefined
  if (/^data:/i.test(source))
    return {
      problem: `${shown} is part of the HTML. Gmail and Outlook do not show such images.`,
      advice: 'Upload the image under Images, and use its address.',
    }
  if (!isWeb.test(source)) return relativeProblem(shown)
  return problemOfWebAddress(shown, source)
}

const relativeProblem = (shown: string): LinkProblem => ({
  problem: `${shown} does not start with https:// and will not work in an email.`,
  advice: 'Write the whole address, starting with https://.',
})

function problemOfWebAddress(shown: string, address: string): LinkProblem | undefined {
  const host = hostIn(address)
  if (host === undefined)
    return {
      problem: `${shown} is not a valid address.`,
      advice: 'Correct it. An address starts with https:// and the name of a site, and has no spaces.',
    }
  const literal = host.replace(/^\[|\]$/g, '')
  const isTest = testNames.test(host) || (isIP(literal) ? !isPublicAddress(literal) : !host.includes('.'))
  return isTest
    ? { problem: `${shown} leads to a test address.`, advice: 'Replace it with the address of your site.' }
    : undefined
}

/** Returns undefined if this is not a valid address. Browsers accept more, such as a missing slash. */
function hostIn(address: string): string | undefined {
  const url = /^https?:\/\/[^\s/?#]/i.test(address) && !/\s/.test(address) ? parseWebAddress(address) : undefined
  if (!url) return undefined
  const { hostname } = url
  // A scheme that was written twice becomes the host.
  return /^https?$/i.test(hostname) || hostname.includes('..') ? undefined : hostname.replace(/\.$/, '')
}
