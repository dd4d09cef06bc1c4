import { visitTags } from '../flows/html-tags.ts'
import { readImageAddress } from '../images/address.ts'
import type { OrganizationId } from '../values/ids.ts'

/** The attributes that load images. Texts and links stay as they were written. */
const loading = new Set(['src', 'srcset', 'background', 'style'])

type Hosts = { from: string; to: string }

/**
 * Lets readers load the images of the gallery from `to` instead of `from`. Those of other organizations stay unchanged,
 * because the host of an organization does not serve them.
 */
export function loadImagesAt(html: string, organizationId: OrganizationId, { from, to }: Hosts): string {
  const start = `${from}/i/`
  if (from === to || !html.includes(start)) return html
  let changed = ''
  let copied = 0
  visitTags(html, {
    wants: () => true,
    visit: (_tag, _start, attributes) => {
      for (const attribute of attributes) {
        if (!loading.has(attribute.name) || !attribute.value.includes(start)) continue
        const [before, ...addresses] = html.slice(attribute.start, attribute.end).split(start)
        const moved = addresses.map((rest) => (isImageOf(organizationId, rest) ? `${to}/i/` : start) + rest)
        changed += html.slice(copied, attribute.start) + before + moved.join('')
        copied = attribute.end
      }
    },
  })
  return changed + html.slice(copied)
}

const isImageOf = (organizationId: OrganizationId, text: string) =>
  readImageAddress(/^[\w-]+\.[a-z]+/.exec(text)?.[0] ?? '')?.organizationId === organizationId
