import type { OrganizationId } from '../../platform/values/ids.ts'
import { visitTags } from '../flows/html-tags.ts'
import { readImageAddress } from '../images/address.ts'

/** The attributes that load images. Texts and links stay as they were written. */
export const loadingAttributes = new Set(['src', 'srcset', 'background', 'style'])
/** In the address of an image, after that of an installation. */
const mark = '/i/'
const baseLengthMax = 300

/**
 * Lets readers load the images of the gallery from `baseUrl`, whatever the address of the installation was when they were
 * inserted. Those of other organizations stay unchanged, because the host of an organization does not serve them.
 */
export function loadImagesAt(html: string, organizationId: OrganizationId, baseUrl: string): string {
  const own = `${baseUrl}${mark}`
  if (!hasOthers(html, own)) return html
  let changed = ''
  let copied = 0
  visitTags(html, {
    wants: () => true,
    visit: (_tag, _start, attributes) => {
      for (const { name, value, start, end } of attributes) {
        if (!loadingAttributes.has(name) || !value.includes(mark)) continue
        const text = html.slice(start, end)
        for (const at of marksIn(text)) {
          const base = baseBefore(text, at)
          if (base === undefined || base === baseUrl || !isImageOf(organizationId, text, at)) continue
          changed += html.slice(copied, start + at - base.length) + baseUrl
          copied = start + at
        }
      }
    },
  })
  return changed + html.slice(copied)
}

function* marksIn(text: string): Iterable<number> {
  for (let at = text.indexOf(mark); at !== -1; at = text.indexOf(mark, at + 1)) yield at
}

/** Whether there may be images of the gallery at another address. Nearly always not. */
function hasOthers(html: string, own: string): boolean {
  for (const at of marksIn(html))
    if (!html.startsWith(own, at + mark.length - own.length) && fileAt(html, at) !== undefined) return true
  return false
}

/** Returns the address before a mark, if it is one. */
function baseBefore(text: string, at: number): string | undefined {
  const before = text.slice(Math.max(0, at - baseLengthMax), at)
  return /^https?:\/\/[^\s"'<>()\\,]+$/.exec(before.slice(before.lastIndexOf('http')))?.[0]
}

const fileAt = (text: string, at: number) => /^[\w-]{64}\.[a-z]+/.exec(text.slice(at + mark.length, at + 80))?.[0]

const isImageOf = (organizationId: OrganizationId, text: string, at: number) =>
  readImageAddress(fileAt(text, at) ?? '')?.organizationId === organizationId
