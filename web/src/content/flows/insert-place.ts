// Where something is inserted in a template, so that the result stays valid MJML or HTML.

/** A section stands between other sections. A component stands in a column. Text may be anywhere in the content. */
export type Level = 'section' | 'component' | 'text'

export type Insertion = { at: number; text: string }

type Element = {
  name: string
  start: number
  openEnd: number
  closeStart: number
  end: number
  parent: Element | undefined
}

const mjmlTag = /<(\/?)(mjml|mj-[a-z-]+)\b[^>]*?(\/?)>/gi
const columns = ['mj-column', 'mj-hero']

/** Elements whose content is HTML. */
const textElements = [
  'mj-text',
  'mj-button',
  'mj-table',
  'mj-raw',
  'mj-title',
  'mj-preview',
  'mj-accordion-title',
  'mj-accordion-text',
  'mj-navbar-link',
  'mj-social-element',
]

/**
 * Moves what does not fit at the cursor to the next place where it does. Without a cursor, blocks are inserted above the
 * footer, and text at the end of the text before it.
 */
export function insertInMjml(source: string, cursor: number | undefined, text: string, level: Level): Insertion {
  const elements = elementsOf(source)
  const body = elements.find(({ name }) => name === 'mj-body')
  if (level === 'text') return textInMjml(source, cursor, text, elements)
  const wanted = level === 'component' ? inSection(text) : text
  if (!body) return { at: cursor ?? source.length, text: wanted }
  const at = cursor ?? aboveFooter(source, body, elements, level)
  const inside = elements.filter(({ start, end }) => start < at && at < end)
  const column = inside.findLast(({ name }) => columns.includes(name))
  if (level === 'component' && column) return betweenChildren(source, at, column, elements, text)
  const wrapper = inside.find(({ name }) => name === 'mj-wrapper') ?? body
  return betweenChildren(source, inside.includes(body) ? at : body.closeStart, wrapper, elements, wanted)
}

function textInMjml(source: string, cursor: number | undefined, text: string, elements: Element[]): Insertion {
  const body = elements.find(({ name }) => name === 'mj-body')
  const place = cursor ?? (body ? aboveFooter(source, body, elements, 'component') : source.length)
  const at = outsideOfTag(source, place)
  const isInside = ({ openEnd, closeStart }: Element) => openEnd <= at && at <= closeStart
  if (isInAttribute(source, at) || elements.some((each) => textElements.includes(each.name) && isInside(each)))
    return { at, text }
  const distance = ({ openEnd, closeStart }: Element) => Math.max(openEnd - at, at - closeStart)
  const [nearest] = elements.filter(({ name }) => name === 'mj-text').toSorted((a, b) => distance(a) - distance(b))
  if (!nearest) return insertInMjml(source, cursor, `<mj-text>${text}</mj-text>`, 'component')
  const content = source.slice(nearest.openEnd, nearest.closeStart).trimEnd()
  return { at: nearest.openEnd + content.length, text: content === '' ? text : ` ${text}` }
}

/** The end of the content before the footer: the last section with the link to unsubscribe or the postal address. */
function aboveFooter(source: string, body: Element, elements: readonly Element[], level: Level): number {
  const sections = elements.filter(({ parent }) => parent === body)
  const last = sections.at(-1)
  const isFooter = last && /unsubscribe_url|brand\.address/.test(source.slice(last.start, last.end))
  const content = isFooter ? sections.at(-2) : last
  if (!content) return last?.start ?? body.closeStart
  const column = elements.findLast(
    ({ name, start, end }) => columns.includes(name) && content.start <= start && end <= content.end,
  )
  return level === 'component' && column ? column.closeStart : content.end
}

export function insertInHtml(source: string, cursor: number | undefined, text: string, level: Level): Insertion {
  const bodyStart = /<body\b[^>]*>/i.exec(source)
  const isBefore = bodyStart !== null && (cursor ?? 0) < bodyStart.index + bodyStart[0].length
  if (cursor !== undefined && (level === 'text' || !isBefore)) return { at: outsideOfTag(source, cursor), text }
  const end = source.toLowerCase().lastIndexOf('</body')
  return { at: end === -1 ? source.length : end, text: `${text}\n` }
}

const inSection = (component: string) =>
  `<mj-section>\n  <mj-column>\n${indented(component, '    ')}\n  </mj-column>\n</mj-section>`

const indented = (text: string, indent: string) => text.replace(/^(?=.)/gm, indent)

function betweenChildren(
  source: string,
  cursor: number,
  parent: Element,
  elements: readonly Element[],
  text: string,
): Insertion {
  const children = elements.filter((element) => element.parent === parent)
  const around = children.find(({ start, end }) => start < cursor && cursor < end)
  const before = around ?? children.findLast(({ end }) => end <= cursor)
  const at = before?.end ?? parent.openEnd
  const indent = before ? indentAt(source, before.start) : `${indentAt(source, parent.start)}  `
  return { at, text: `\n${indented(text, indent)}` }
}

const indentAt = (source: string, position: number) =>
  /^[ \t]*/.exec(source.slice(source.lastIndexOf('\n', position - 1) + 1))![0]

/** Elements that are not closed end with the source: the template is still being written. */
function elementsOf(source: string): Element[] {
  const elements: Element[] = []
  const open: Element[] = []
  for (const match of source.matchAll(mjmlTag)) {
    const [tag, isClosing, name = '', isEmpty] = match
    const end = match.index + tag.length
    if (isClosing) {
      const index = open.findLastIndex((element) => element.name === name.toLowerCase())
      if (index === -1) continue
      Object.assign(open[index]!, { closeStart: match.index, end })
      open.length = index
      continue
    }
    const until = isEmpty ? end : source.length
    const element = {
      name: name.toLowerCase(),
      start: match.index,
      openEnd: end,
      closeStart: until,
      end: until,
      parent: open.at(-1),
    }
    elements.push(element)
    if (!isEmpty) open.push(element)
  }
  return elements
}

/** After the tag that contains the position, if it is inside of one. Values of attributes stay as they are. */
function outsideOfTag(source: string, position: number): number {
  const start = tagAround(source, position)
  if (start === undefined || isInAttribute(source, position)) return position
  const end = source.indexOf('>', position)
  return end === -1 ? position : end + 1
}

function isInAttribute(source: string, position: number): boolean {
  const start = tagAround(source, position)
  return start !== undefined && source.slice(start, position).split('"').length % 2 === 0
}

/** The start of the tag that contains the position. */
function tagAround(source: string, position: number): number | undefined {
  const start = source.lastIndexOf('<', position - 1)
  if (start === -1 || source.lastIndexOf('>', position - 1) > start || !/^<[/!a-z]/i.test(source.slice(start)))
    return undefined
  return start
}
