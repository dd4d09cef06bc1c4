import { escapeHtml } from './html-entities.ts'
import { visitTags } from './html-tags.ts'
import { piecesOf } from './liquid/liquid.ts'

export const preheaderLengthMax = 300

/** Push the text of the email out of the line that clients show after the subject. */
const fillers = '&#847;&zwnj;&nbsp;'.repeat(60)
const hidden = 'display:none;max-height:0;max-width:0;overflow:hidden;opacity:0;color:transparent;mso-hide:all'

/** Adds the hidden text that clients show after the subject, at the start of the body. It may contain Liquid. */
export function withPreheader(html: string, preheader: string | null | undefined): string {
  if (!preheader) return html
  const text = piecesOf(preheader)
    .map((piece) => (piece.kind === 'text' ? escapeHtml(piece.text) : piece.text))
    .join('')
  const element = `<div data-preheader="" style="${hidden}">${text}${fillers}</div>`
  const at = startOfBody(html)
  return html.slice(0, at) + element + html.slice(at)
}

/** Returns 0 if there is no body element. */
function startOfBody(html: string): number {
  let start = 0
  visitTags(html, {
    wants: (name) => start === 0 && name === 'body',
    visit: (_name, _start, _attributes, end) => {
      start = end
    },
  })
  return start
}
