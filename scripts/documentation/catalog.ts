import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { packageRoot } from '../../src/platform/config/package-root.ts'

/** A guide: one Markdown file. `name` is its file name without extension and its path below /docs/guides/. */
export type Guide = { name: string; title: string; summary: string; markdown: string }
type GuideSection = { title: string; guides: Guide[] }
export type Catalog = {
  /** The Markdown of the overview. */
  markdown: string
  sections: GuideSection[]
}

export const guidesFolder = join(packageRoot, 'docs', 'guides')

const entryPattern = /^- \[([^\]]+)\]\(([a-z0-9-]+)\.md\): (.+)$/

/**
 * Reads the guides that README.md of the folder lists. Its second-level headings are the sections of the navigation, its list
 * items (`- [Title](name.md): summary`) the guides.
 */
export function readCatalog(): Catalog {
  const markdown = readFileSync(join(guidesFolder, 'README.md'), 'utf8')
  const [, ...parts] = markdown.split(/^## /m)
  const sections = parts.map((part) => {
    const [title = '', ...lines] = part.split('\n')
    const guides = lines.flatMap((line) => {
      const [, name, file, summary] = entryPattern.exec(line) ?? []
      if (!name || !file || !summary) return []
      return [{ name: file, title: name, summary, markdown: readFileSync(join(guidesFolder, `${file}.md`), 'utf8') }]
    })
    return { title, guides }
  })
  return { markdown, sections }
}
