import { Marked, type Tokens } from 'marked'
import { escapeHtml } from './escape-html.ts'
import { highlight } from './highlight.ts'

export type Heading = { level: number; id: string; text: string }
/** The text below one heading, for the search. */
type SearchEntry = { guide: string; title: string; heading: string; anchor: string; text: string }
export type RenderedGuide = { html: string; headings: Heading[]; entries: SearchEntry[] }

/** Words after the language of a code block that say how a test treats it. Readers do not need them. */
const languageOf = (info: string | undefined) => info?.split(' ', 1)[0] ?? ''

const languageTitles: Record<string, string> = {
  sh: 'Shell',
  ts: 'TypeScript',
  js: 'JavaScript',
  python: 'Python',
  go: 'Go',
  php: 'PHP',
  ruby: 'Ruby',
  json: 'JSON',
  liquid: 'Liquid',
  http: 'HTTP',
  sql: 'SQL',
  ini: 'Settings',
  nginx: 'nginx',
  output: 'Output',
}

/** Renders a guide. The guides are part of the program, so their HTML is trusted. */
export function renderGuide(name: string, title: string, markdown: string): RenderedGuide {
  const headings: Heading[] = []
  const entries: SearchEntry[] = [{ guide: name, title, heading: '', anchor: '', text: '' }]
  const ids = new Map<string, number>()
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth }: Tokens.Heading) {
        const html = this.parser.parseInline(tokens)
        const text = this.parser.parseInline(tokens, this.parser.textRenderer)
        if (depth === 1) return `<h1>${html}</h1>\n`
        const id = uniqueId(slugOf(text), ids)
        headings.push({ level: depth, id, text })
        return `<h${depth} id="${id}"><a class="anchor" href="#${id}" aria-label="Link to this section">#</a>${html}</h${depth}>\n`
      },
      code({ text, lang }: Tokens.Code) {
        const language = languageOf(lang)
        const label = languageTitles[language] ?? ''
        const isOutput = language === 'output'
        const shown = highlight(text, language) ?? escapeHtml(text)
        return `<div class="code${isOutput ? ' output' : ''}"><div class="code-title">${label}</div><pre tabindex="0" aria-label="${label || 'Code'}"><code data-language="${escapeHtml(language)}">${shown}\n</code></pre></div>\n`
      },
      link({ href, tokens }: Tokens.Link) {
        return `<a href="${escapeHtml(targetOf(href))}">${this.parser.parseInline(tokens)}</a>`
      },
      table(token: Tokens.Table) {
        const row = (cells: Tokens.TableCell[], tag: 'th' | 'td') =>
          `<tr>${cells.map((cell) => `<${tag}>${this.parser.parseInline(cell.tokens)}</${tag}>`).join('')}</tr>\n`
        const isLabelled = token.header.some(({ text }) => text.trim() !== '')
        const head = isLabelled ? `<thead>${row(token.header, 'th')}</thead>` : ''
        return `<div class="table" tabindex="0" role="region" aria-label="Table"><table>${head}<tbody>${token.rows.map((cells) => row(cells, 'td')).join('')}</tbody></table></div>\n`
      },
    },
  })
  const tokens = marked.lexer(markdown)
  const html = marked.parser(tokens)
  let found = 0
  for (const token of tokens) {
    if (token.type === 'heading' && token.depth > 1) {
      const { id, text } = headings[found++]!
      entries.push({ guide: name, title, heading: text, anchor: id, text: '' })
    } else if (token.type !== 'heading') {
      entries.at(-1)!.text += ` ${plainTextOf(token.raw)}`
    }
  }
  return { html, headings, entries: entries.map((entry) => ({ ...entry, text: entry.text.trim() })) }
}

/** `sending.md#context` becomes `sending#context`, relative to /docs/guides/. */
const targetOf = (href: string) => href.replace(/^([a-z0-9-]+)\.md(#.*)?$/, '$1$2')

/** As GitHub does, so that links to headings work in both places. */
const slugOf = (text: string) =>
  text
    .replace(/&[a-z#0-9]+;/g, '')
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-')

function uniqueId(id: string, ids: Map<string, number>): string {
  const count = ids.get(id) ?? 0
  ids.set(id, count + 1)
  return count === 0 ? id : `${id}-${count}`
}

const plainTextOf = (markdown: string) =>
  markdown
    .replace(/^```.*$/gm, ' ')
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/^[|\s:-]+$/gm, ' ')
    .replace(/[`*|>]/g, ' ')
    .replace(/\s+/g, ' ')
    .trim()
