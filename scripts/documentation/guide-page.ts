import type { Catalog, Guide } from './catalog.ts'
import { escapeHtml } from './escape-html.ts'
import type { Heading, RenderedGuide } from './render-guide.ts'

/** The versioned names of the files that pages reference. */
export type PageAssets = { style: string; script: string }

const pageHeadingsMin = 3

/** Returns the HTML of a guide, or of the overview if `guide` is undefined. All URLs are relative to /docs/guides/. */
export function guidePage(
  catalog: Catalog,
  assets: PageAssets,
  guide: Guide | undefined,
  { html, headings }: RenderedGuide,
): string {
  const title = guide ? `${guide.title} · Waxwing guides` : 'Waxwing guides'
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(title)}</title>
<meta name="description" content="${escapeHtml(guide?.summary ?? 'How to integrate and run Waxwing.')}">
<link rel="icon" href="logo.svg" type="image/svg+xml">
<link rel="alternate" type="text/markdown" href="${guide ? `${guide.name}.md` : 'README.md'}">
<link rel="stylesheet" href="${assets.style}">
<script src="${assets.script}"></script>
</head>
<body>
<a class="skip" href="#content">Skip to content</a>
<header class="top">
<a class="brand" href="./"><img src="logo.svg" alt="" width="28" height="28">Waxwing <span>Guides</span></a>
<form class="search" role="search" hidden>
<label class="hidden" for="search">Search the guides</label>
<input id="search" type="search" placeholder="Search" autocomplete="off" spellcheck="false" aria-controls="results" aria-describedby="search-status">
<div id="results" class="results" hidden></div>
<p id="search-status" class="hidden" role="status"></p>
</form>
<nav class="links" aria-label="Waxwing">
<a href="../">API reference</a>
<a href="../../">Open the app</a>
</nav>
</header>
<div class="columns">
${navigation(catalog, guide)}
<main id="content" tabindex="-1">
<article>
${html}</article>
${guide ? neighbours(catalog, guide) : ''}<footer><a href="${guide ? `${guide.name}.md` : 'README.md'}">View this page as Markdown</a></footer>
</main>
${contents(headings)}
</div>
</body>
</html>
`
}

function navigation({ sections }: Catalog, current: Guide | undefined): string {
  const items = sections.map(({ title, guides }) => {
    const links = guides.map((guide) => {
      const mark = guide.name === current?.name ? ' aria-current="page"' : ''
      return `<li><a href="${guide.name}"${mark}>${escapeHtml(guide.title)}</a></li>`
    })
    return `<h2>${escapeHtml(title)}</h2>\n<ul>\n${links.join('\n')}\n</ul>`
  })
  // Closed on a phone until it is opened; the style sheet always shows it beside the text of wide pages.
  return `<details class="side"><summary>All guides</summary>\n<nav aria-label="Guides">\n${items.join('\n')}\n</nav></details>`
}

function contents(headings: Heading[]): string {
  const shown = headings.filter(({ level }) => level === 2)
  if (shown.length < pageHeadingsMin) return '<div class="contents"></div>'
  const links = shown.map(({ id, text }) => `<li><a href="#${id}">${text}</a></li>`)
  return `<nav class="contents" aria-label="On this page">\n<h2>On this page</h2>\n<ul>\n${links.join('\n')}\n</ul>\n</nav>`
}

function neighbours({ sections }: Catalog, current: Guide): string {
  const all = sections.flatMap(({ guides }) => guides)
  const at = all.findIndex(({ name }) => name === current.name)
  const link = (label: string, guide: Guide | undefined) =>
    guide ? `<a href="${guide.name}"><span>${label}</span> ${escapeHtml(guide.title)}</a>` : '<span></span>'
  return `<nav class="neighbours" aria-label="More guides">${link('Previous', all[at - 1])}${link('Next', all[at + 1])}</nav>\n`
}
