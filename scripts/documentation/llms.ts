import type { Catalog } from './catalog.ts'

const summary =
  'Waxwing is a self-hosted email engagement service: contacts, flows, sending over SMTP, opens, clicks, bounces, metrics and signed webhooks, controlled by an HTTP API and a web app.'

/** Returns an index of the documentation for language models, in the format of https://llmstxt.org. */
export function llmsText({ sections }: Catalog, baseUrl: string): string {
  const base = baseUrl.replace(/\/+$/, '')
  const lists = sections.map(({ title, guides }) => {
    const links = guides.map((guide) => `- [${guide.title}](${base}/docs/guides/${guide.name}.md): ${guide.summary}`)
    return `## ${title}\n\n${links.join('\n')}\n`
  })
  const reference = `## API\n\n- [OpenAPI document](${base}/openapi.json): every operation with its schemas and errors\n`
  return [`# Waxwing\n\n> ${summary}\n`, ...lists, reference].join('\n')
}

/** Returns all guides in one text. */
export function llmsFullText({ sections }: Catalog): string {
  const guides = sections.flatMap((section) => section.guides.map(({ markdown }) => markdown.trim()))
  return `${[`> ${summary}`, ...guides].join('\n\n')}\n`
}
