import { readdirSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { lexer, type Token } from 'marked'

/** A code block of a guide. The word after the language says how a test treats it. */
export type GuideBlock = { guide: string; language: string; mode: string; code: string; isFenced: boolean }

const folder = 'docs/guides'

export const guideNames = readdirSync(folder)
  .filter((file) => file.endsWith('.md') && file !== 'README.md')
  .map((file) => basename(file, '.md'))

export const readGuide = (name: string) => readFileSync(`${folder}/${name}.md`, 'utf8')

export function blocksOf(guide: string): GuideBlock[] {
  return codeTokens(lexer(readGuide(guide))).map(({ lang = '', text, codeBlockStyle }) => {
    const [language = '', mode = ''] = lang.split(' ')
    return { guide, language, mode, code: text, isFenced: codeBlockStyle !== 'indented' }
  })
}

type CodeToken = { lang?: string; text: string; codeBlockStyle?: string }

/** Also finds blocks in lists. */
function codeTokens(tokens: Token[]): CodeToken[] {
  return tokens.flatMap((token) => {
    if (token.type === 'code') return [token as CodeToken]
    const inner = token.type === 'list' ? token.items : 'tokens' in token ? token.tokens : undefined
    return codeTokens(inner ?? [])
  })
}
