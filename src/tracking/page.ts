import { createHash } from 'node:crypto'
import type { FastifyReply } from 'fastify'
import { escapeHtml } from '../flows/html-entities.ts'
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

export type PageSender = { send(reply: FastifyReply, status: number, page: Page): FastifyReply }

/** Pages for recipients. They use no scripts, no cookies and no external resources. */
export function createPageSender(): PageSender {
  const styleHash = createHash('sha256').update(pageStyle).digest('base64')
  const headers = {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': `default-src 'none'; style-src 'sha256-${styleHash}'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`,
    'x-robots-tag': 'noindex',
  }
  return { send: (reply, status, page) => reply.code(status).headers(headers).send(render(page)) }
}

function render({ title, paragraphs, action, second }: Page): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(title)}</title>
<style>${pageStyle}</style>
</head>
<body>
<main>
<h1>${escapeHtml(title)}</h1>
${paragraphs.map((text) => `<p>${withEmphasis(text)}</p>`).join('\n')}
${action ? button(action, 'primary') : ''}
${second ? `<div class="second"><p>${withEmphasis(second.question)}</p>${button(second, 'secondary')}</div>` : ''}
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
