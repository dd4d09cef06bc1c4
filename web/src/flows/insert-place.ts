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

/** Moves what does not fit at the cursor to the next place where it does. */
export function insertInMjml(source: string, cursor: number, text: string, level: Level): Insertion {
  if (level === 'text') return { at: outsideOfTag(source, cursor), text }
  const elements = elementsOf(source)
  const inside = elements.filter(({ start, end }) => start < cursor && cursor < end)
  const column = inside.findLast(({ name }) => columns.includes(name))
  if (level === 'component' && column) return betweenChildren(source, cursor, column, elements, text)
  const wanted = level === 'component' ? inSection(text) : text
  const body = elements.find(({ name }) => name === 'mj-body')
  if (!body) return { at: cursor, text: wanted }
  const wrapper = inside.find(({ name }) => name === 'mj-wrapper') ?? body
  return betweenChildren(source, inside.includes(body) ? cursor : body.closeStart, wrapper, elements, wanted)
}

export function insertInHtml(source: string, cursor: number, text: string, level: Level): Insertion {
  const bodyStart = /<body\b[^>]*>/i.exec(source)
  const isBefore = bodyStart !== null && cursor < bodyStart.index + bodyStart[0].length
  if (level === 'text' || !isBefore) return { at: outsideOfTag(source, cursor), text }
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
  const start = source.lastIndexOf('<', position - 1)
  if (start === -1 || source.lastIndexOf('>', position - 1) > start || !/^<[/!a-z]/i.test(source.slice(start)))
    return position
  const quotes = source.slice(start, position).split('"').length - 1
  if (quotes % 2 === 1) return position
  const end = source.indexOf('>', position)
  return end === -1 ? position : end + 1
}
