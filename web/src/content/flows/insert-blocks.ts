import type { FlowPart, FlowText, Image } from '../../api/types.ts'
import { textRuns } from './find-source.ts'
import { type Insertion, insertInHtml, insertInMjml, type Level } from './insert-place.ts'

type Format = FlowText['html_format']
type Source = Record<Format, string>
export type Block = { label: string; level: Level; source: Source }

const placeholderLink = 'https://example.com'

/** The palette of the editor. */
export const blocks: Block[] = [
  {
    label: 'Heading',
    level: 'component',
    source: {
      mjml: '<mj-text font-size="24px" font-weight="700" line-height="1.3">Heading</mj-text>',
      html: '<h1 style="margin:0 0 16px;font-size:24px;line-height:1.3">Heading</h1>',
    },
  },
  {
    label: 'Text',
    level: 'component',
    source: {
      mjml: '<mj-text>\n  Write your text here.\n</mj-text>',
      html: '<p style="margin:0 0 16px;line-height:1.6">Write your text here.</p>',
    },
  },
  {
    label: 'Button',
    level: 'component',
    source: {
      mjml: `<mj-button href="${placeholderLink}" background-color="{{ brand.color }}" color="{{ brand.text_on_color }}" border-radius="6px">Button text</mj-button>`,
      html: `<p style="margin:24px 0">\n  <a href="${placeholderLink}" style="display:inline-block;padding:12px 20px;background:{{ brand.color }};color:{{ brand.text_on_color }};border-radius:6px;text-decoration:none">Button text</a>\n</p>`,
    },
  },
  {
    label: 'Divider',
    level: 'component',
    source: {
      mjml: '<mj-divider border-width="1px" border-color="#dfe3e8" />',
      html: '<hr style="margin:24px 0;border:0;border-top:1px solid #dfe3e8">',
    },
  },
  {
    label: 'Space',
    level: 'component',
    source: { mjml: '<mj-spacer height="24px" />', html: '<div style="height:24px;line-height:24px">&nbsp;</div>' },
  },
  {
    label: 'Quote',
    level: 'component',
    source: {
      mjml: '<mj-text font-style="italic" padding-left="40px">\n  “A sentence that a customer said about you.”\n</mj-text>',
      html: '<blockquote style="margin:0 0 16px;padding-left:16px;border-left:3px solid #dfe3e8;font-style:italic">“A sentence that a customer said about you.”</blockquote>',
    },
  },
  {
    label: 'Table',
    level: 'component',
    source: {
      mjml: '<mj-table>\n  <tr>\n    <td style="padding:8px 0">Item</td>\n    <td style="padding:8px 0;text-align:right">€ 10.00</td>\n  </tr>\n</mj-table>',
      html: '<table role="presentation" width="100%" style="border-collapse:collapse">\n  <tr>\n    <td style="padding:8px 0">Item</td>\n    <td style="padding:8px 0;text-align:right">€ 10.00</td>\n  </tr>\n</table>',
    },
  },
  {
    label: 'Section',
    level: 'section',
    source: {
      mjml: '<mj-section background-color="#ffffff">\n  <mj-column>\n    <mj-text>\n      Write your text here.\n    </mj-text>\n  </mj-column>\n</mj-section>',
      html: '<div style="max-width:600px;margin:0 auto;padding:24px;background:#ffffff">\n  <p style="margin:0;line-height:1.6">Write your text here.</p>\n</div>',
    },
  },
  {
    label: 'Two columns',
    level: 'section',
    source: {
      mjml: '<mj-section background-color="#ffffff">\n  <mj-column>\n    <mj-text>Left</mj-text>\n  </mj-column>\n  <mj-column>\n    <mj-text>Right</mj-text>\n  </mj-column>\n</mj-section>',
      html: '<table role="presentation" width="100%" style="border-collapse:collapse">\n  <tr>\n    <td width="50%" style="padding:8px;vertical-align:top">Left</td>\n    <td width="50%" style="padding:8px;vertical-align:top">Right</td>\n  </tr>\n</table>',
    },
  },
  {
    label: 'Footer',
    level: 'component',
    source: {
      mjml: '<mj-text align="center" font-size="12px" color="#667085">\n  {{ brand.name }}{% if brand.address %}<br>{{ brand.address }}{% endif %}<br>\n  <a href="{{ unsubscribe_url }}" style="color:#667085">Unsubscribe</a>\n</mj-text>',
      html: '<p style="margin:24px 0 0;font-size:12px;color:#667085;text-align:center">{{ brand.name }}{% if brand.address %}<br>{{ brand.address }}{% endif %}<br><a href="{{ unsubscribe_url }}" style="color:#667085">Unsubscribe</a></p>',
    },
  },
]

const contentWidth = 600

/** Without a description, it has no `alt`, so that the check of the email names it. */
export function imageBlock({ url, alt_text: description, width }: Image): Block {
  const alt = description === '' ? '' : ` alt="${escapeAttribute(description)}"`
  const shown = Math.min(width, contentWidth)
  return {
    label: 'Image',
    level: 'component',
    source: {
      // 25 pixels of padding on both sides.
      mjml: `<mj-image src="${url}"${alt} width="${Math.min(width, contentWidth - 50)}px" />`,
      html: `<img src="${url}"${alt} width="${shown}" style="display:block;max-width:100%;height:auto">`,
    },
  }
}

/** Stands where its content would. */
export function partBlock({ name, html }: FlowPart): Block {
  const start = /<(mj-[a-z]+)/.exec(html)?.[1]
  const isSection = start === 'mj-section' || start === 'mj-wrapper' || start === 'mj-hero'
  const source = `{% part "${name}" %}`
  return { label: name, level: isSection ? 'section' : 'component', source: { mjml: source, html: source } }
}

/** A Liquid output at the cursor. */
export const variableBlock = (name: string): Block => {
  const source = `{{ ${name} }}`
  return { label: name, level: 'text', source: { mjml: source, html: source } }
}

/** The first text of a block, or the address of its image: by this the preview finds it. */
export const shownBy = (html: string) => textRuns(html)[0]?.text ?? /<img src="([^"]+)"/.exec(html)?.[1]

export const insertionOf = (block: Block, format: Format, source: string, cursor: number | undefined): Insertion =>
  (format === 'mjml' ? insertInMjml : insertInHtml)(source, cursor, block.source[format], block.level)

const escapeAttribute = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;').replaceAll('{', '&#123;')
