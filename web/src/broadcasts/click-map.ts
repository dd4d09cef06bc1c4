import type { BroadcastLink } from '../api/types.ts'
import { count, share } from '../ui/numbers.ts'

/** As many links as the API lists. If there are so many, a link that is not among them may have been clicked. */
const linksListedMax = 100

// From no clicks to many: each has enough contrast with white text.
const colors = ['#5f6b7a', '#4a7fb5', '#2f6aa8', '#1c558f', '#0b3f73']

/**
 * Styles that show, on each tracked link of a preview, how many people clicked it. They are drawn by the email itself: the app
 * cannot look into the frame, and nothing in it runs scripts.
 */
export function clickMapCss(
  links: readonly string[],
  clicked: readonly BroadcastLink[],
  { sent, isComplete }: { sent: number; isComplete: boolean },
): string {
  const others = isComplete && clicked.length < linksListedMax ? 0 : undefined
  const byUrl = new Map(clicked.map((link) => [link.url, link]))
  const most = Math.max(1, ...clicked.map(({ contacts }) => contacts))
  const rules = links.flatMap((url, position) => {
    const people = byUrl.get(url)?.contacts ?? others
    if (people === undefined) return []
    const color = colors[people === 0 ? 0 : Math.ceil((people / most) * (colors.length - 1))]!
    const label = `${count(people)} (${share(people, sent)})`
    const link = `[data-waxwing-link="${position}"]`
    return `${link} { outline: 2px solid ${color} !important; outline-offset: 2px }
      ${link}::after { content: "${label}"; background: ${color} }`
  })
  return `${badge}\n${rules.join('\n')}`
}

// Without a position of its own, the label stands where the content of the link ends and moves nothing else.
const badge = `[data-waxwing-link]::after {
  all: initial; position: absolute; z-index: 1000; transform: translate(-50%, -90%); padding: 1px 6px;
  border-radius: 9px; color: #fff; font: 600 14px/18px system-ui, sans-serif; white-space: nowrap; pointer-events: none
}`
