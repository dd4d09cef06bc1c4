import { createHash } from 'node:crypto'
import type { FastifyReply } from 'fastify'
import { type BrandValues, escapeHtml } from '../../content/content.ts'
import { pageStyle } from './page-style.ts'

/** The content of a page. Texts are plain text, in which `**` marks emphasis. */
export type Page = {
  title: string
  paragraphs: string[]
  /** The main button. */
  action?: Action
  /** A second choice, shown below a line and introduced by a question. */
  second?: Action & { question: string }
}
type Action = { label: string; path: string }

/** Shown on pages of an organization. The logo is served by the same host. */
export type PageBrand = Pick<
  BrandValues,
  'name' | 'logo_url' | 'color' | 'text_on_color' | 'background_color' | 'font' | 'address' | 'website_url'
>

export type PageSender = { send(reply: FastifyReply, status: number, page: Page, brand?: PageBrand): FastifyReply }

/** Pages for recipients. They use no scripts, no cookies and no external resources. */
export function createPageSender(): PageSender {
  const headersFor = (...styles: string[]) => ({
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': `default-src 'none'; style-src ${styles.map(sourceOf).join(' ')}; form-action 'self'; img-src 'self'; base-uri 'none'; frame-ancestors 'none'`,
    'x-robots-tag': 'noindex',
  })
  const headers = headersFor(pageStyle)
  return {
    send: (reply, status, page, brand) =>
      brand
        ? reply
            .code(status)
            .headers(headersFor(pageStyle, brandStyle(brand)))
            .send(render(page, brand))
        : reply.code(status).headers(headers).send(render(page)),
  }
}

const sourceOf = (style: string) => `'sha256-${createHash('sha256').update(style).digest('base64')}'`

/** Colors and fonts are checked when they are saved. The background is for light pages: dark ones keep theirs. */
const brandStyle = ({ color, text_on_color: text, background_color: ground, font }: PageBrand) =>
  `:root { --accent: ${color}; --on-accent: ${text}; --font: ${font}; }
@media (prefers-color-scheme: light) { :root { --ground: ${ground}; } }`

/** The path of the logo: the page may be opened at another host than that of the address. */
function logoOf({ logo_url: url, name, website_url: website }: PageBrand): string {
  if (!url) return ''
  const logo = `<img src="${escapeHtml(new URL(url).pathname)}" alt="${escapeHtml(name ?? '')}" class="logo">`
  return website ? `<a href="${escapeHtml(website)}" rel="noreferrer">${logo}</a>` : logo
}

function render({ title, paragraphs, action, second }: Page, brand?: PageBrand): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(title)}</title>
<style>${pageStyle}</style>
${brand ? `<style>${brandStyle(brand)}</style>` : ''}
</head>
<body>
<main>
${brand ? logoOf(brand) : ''}
<h1>${escapeHtml(title)}</h1>
${paragraphs.map((text) => `<p>${withEmphasis(text)}</p>`).join('\n')}
${action ? button(action, 'primary') : ''}
${second ? `<div class="second"><p>${withEmphasis(second.question)}</p>${button(second, 'secondary')}</div>` : ''}
${brand?.address ? `<p class="address">${escapeHtml(`${brand.name}, ${brand.address}`)}</p>` : ''}
</main>
</body>
</html>
`
}

const button = ({ label, path }: Action, look: string) =>
  `<form method="post" action="${escapeHtml(path)}"><button class="${look}">${escapeHtml(label)}</button></form>`

const withEmphasis = (text: string) =>
  text
    .split('**')
    .map((part, index) => (index % 2 === 1 ? `<strong>${escapeHtml(part)}</strong>` : escapeHtml(part)))
    .join('')
