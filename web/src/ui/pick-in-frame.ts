import { type Occurrence, type Picked, withoutSpace } from './shown-text.ts'

/** What is at a click in the document of a preview, or undefined for an empty area. */
export function pickedAt(event: MouseEvent, document: Document): Picked | undefined {
  const target = event.target as Element | null
  if (!target?.closest) return undefined
  const link = target.closest('a[href]')
  const href = link ? { href: occurrenceOf(document, link, 'href') } : {}
  const image = target.closest('img[src]')
  if (image) return { src: occurrenceOf(document, image, 'src'), ...href }
  const node = textNodeAt(document, event.clientX, event.clientY, target)
  if (!node) return link ? href : undefined
  const text = withoutSpace(node.data)
  const same = textNodes(document).filter((each) => withoutSpace(each.data) === text)
  return { text: { text, nth: Math.max(0, same.indexOf(node)) }, ...href }
}

/** Scrolls to the last text or image of this content. */
export function reveal(document: Document, text: string): void {
  const image = [...document.querySelectorAll('img')].findLast((each) => each.getAttribute('src') === text)
  const node = textNodes(document).findLast((each) => withoutSpace(each.data) === text)
  ;(image ?? node?.parentElement)?.scrollIntoView({ block: 'center' })
}

function occurrenceOf(document: Document, element: Element, name: 'href' | 'src'): Occurrence {
  const text = element.getAttribute(name) ?? ''
  const same = [...document.querySelectorAll(`[${name}]`)].filter((each) => each.getAttribute(name) === text)
  return { text, nth: same.indexOf(element) }
}

function textNodeAt(document: Document, x: number, y: number, target: Element): Text | undefined {
  const node =
    document.caretPositionFromPoint?.(x, y)?.offsetNode ?? document.caretRangeFromPoint?.(x, y)?.startContainer
  const isShown = (each: Node | undefined): each is Text =>
    each?.nodeType === Node.TEXT_NODE && target.contains(each) && each.textContent?.trim() !== ''
  if (isShown(node)) return node
  // Beside the text of a button or a cell.
  return textNodes(document).find((each) => isShown(each))
}

function textNodes(document: Document): Text[] {
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  const nodes: Text[] = []
  while (walker.nextNode()) nodes.push(walker.currentNode as Text)
  return nodes
}
