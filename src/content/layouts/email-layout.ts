import { randomBytes } from 'node:crypto'
import { type EmailTokens, emailTokenLength } from '../../platform/secrets/tokens.ts'
import type { FlowId } from '../../platform/values/ids.ts'
import { escapeHtml } from '../flows/html-entities.ts'
import { type Attribute, rawTextElements, visitTags } from '../flows/html-tags.ts'
import type { Outline } from '../flows/liquid/liquid.ts'
import type { BodyOutline, BodyOutputs, CompiledTemplate } from '../flows/template.ts'
import type { ReadyVersion } from '../flows/template-cache.ts'
import { linksMax, linksOfOneTurn } from '../flows/track-links.ts'
import { withUnsubscribeLine } from '../flows/unsubscribe-line.ts'
import { type FilledText, TextForm } from '../mime/text-form.ts'
import { finishHtml, loadingAttributes, unsubscribeUrlOf, type Way } from './finish-body.ts'

// A version is laid out once for all of its emails: links are tracked and images are loaded from the host in a text in
// which characters of the private use area mark the outputs of the template. Outputs are inserted afterwards, where no
// output can change what was decided. A tag of which links or images depend on outputs is finished for each email.

/** Where an output is: in text that readers see, in a quoted attribute, or in a comment, style or script. */
type Place = 'content' | 'attribute' | 'hidden'
/** `place` is undefined if the output contains no markup. */
type Output = { kind: 'output'; index: number; place: Place | undefined }
type Token = { kind: 'token'; name: keyof EmailTokens }
/** A tag with outputs. */
type Tag = { kind: 'tag'; parts: readonly (string | Output | Token)[] }
/** `last`: the last source and result: those of emails in a row are often the same. */
type Slot = (Output | Token | Tag) & { last?: Finished }
type Finished = { source: string; texts: readonly string[]; linksAtMost: number; links: number }

/** `hasLine`: the unsubscribe link was added. */
type HtmlLayout = { form: TextForm; slots: readonly Slot[]; hasLine: boolean; linksAtMost: number }
/** `endsWith`: the last output, if what follows it was trimmed. */
type TextLayout = { form: TextForm; slots: readonly (Output | Token)[]; hasLine: boolean; endsWith: number | undefined }

export type FilledBody = { html: FilledText; text: FilledText | string; hasManyLinks: boolean }

const firstMark = 0xe000
const slotsMax = 6_000
const marks = /[\ue000-\uf8ff]/g
/** Nobody can write these. */
const markedTokens: EmailTokens = { links: randomToken(), unsubscribe: randomToken() }
const slotMark = new RegExp(`([\ue000-\uf8ff]|${markedTokens.links}|${markedTokens.unsubscribe})`)
/** The start of a tag or declaration, or of the end of a style or script, that an output would continue. */
const openStart = /<[/!?]?[a-z-]*$/i
const openStartLength = 20
/** Results of longer sources are not kept. */
const keptLengthMax = 2_000

function randomToken(): string {
  return randomBytes(emailTokenLength).toString('base64url').slice(0, emailTokenLength)
}

const markOf = (slot: number) => String.fromCharCode(firstMark + slot)
const slotAt = (mark: string) => mark.charCodeAt(0) - firstMark

/** The HTML and text of a version, ready for the outputs and tokens of its emails. */
export class EmailLayout {
  readonly #way: Way
  readonly #html: HtmlLayout
  /** Undefined if its text is rendered as a whole. */
  readonly #text: TextLayout | undefined

  private constructor(way: Way, html: HtmlLayout, text: TextLayout | undefined) {
    this.#way = way
    this.#html = html
    this.#text = text
  }

  /** Returns undefined if outputs decide where the tags of the template are. */
  static of(outline: BodyOutline, way: Way): EmailLayout | undefined {
    const html = layOutHtml(outline.html, way)
    const text = outline.text && layOutText(outline.text, way)
    return html && (text || !outline.text) ? new EmailLayout(way, html, text) : undefined
  }

  /** Returns what `finishBody` returns for the rendered body, or undefined if outputs may change what was decided. */
  fill(outputs: BodyOutputs, tokens: EmailTokens): FilledBody | undefined {
    const text = outputs.text !== undefined && this.#fillText(outputs.text, tokens)
    const html = outputs.html && text && this.#fillHtml(outputs.html, tokens)
    return html && text ? { ...html, text } : undefined
  }

  #fillText(outputs: readonly string[] | string, tokens: EmailTokens): FilledText | string | undefined {
    if (!this.#text) return finishText(outputs as string, this.#way, tokens)
    const { form, slots, hasLine, endsWith } = this.#text
    const last = endsWith === undefined ? 'x' : outputs[endsWith]!
    if (last === '' || last !== last.trimEnd()) return undefined
    const values: string[] = []
    for (const slot of slots) {
      const value = slot.kind === 'token' ? tokens[slot.name] : outputs[slot.index]!
      if (hasLine && slot.kind === 'output' && value.includes(tokens.unsubscribe)) return undefined
      values.push(value)
    }
    return form.fill(values)
  }

  #fillHtml(outputs: readonly string[], tokens: EmailTokens): Omit<FilledBody, 'text'> | undefined {
    const { form, slots, hasLine } = this.#html
    let { linksAtMost } = this.#html
    let links = 0
    const values: string[] = []
    for (const slot of slots) {
      const source = sourceOf(slot, outputs, tokens)
      if (source === undefined) return undefined
      if (hasLine && slot.kind !== 'token' && source.includes(tokens.unsubscribe)) return undefined
      if (slot.kind === 'tag' || (slot.kind === 'output' && slot.place === 'content' && source.includes('<'))) {
        const finished = this.#finish(slot, source, tokens)
        if (!finished) return undefined
        linksAtMost += finished.linksAtMost
        links += finished.links
        values.push(finished.texts.join(tokens.links))
      } else values.push(source)
    }
    return linksAtMost > linksMax ? undefined : { html: form.fill(values), hasManyLinks: links > linksOfOneTurn }
  }

  /** Returns undefined if the source is not complete in itself. */
  #finish(slot: Slot, source: string, tokens: EmailTokens): Finished | undefined {
    if (slot.last?.source === source) return slot.last
    let linksAtMost = 0
    if (slot.kind === 'tag') linksAtMost = 1
    else {
      let hasBody = false
      const isComplete = visitTags(source, {
        wants: (name) => name === '/body' || isLinkTag(name),
        visit: (name) => {
          if (name === '/body') hasBody = true
          else linksAtMost++
        },
      })
      if (!isComplete || hasBody || openStart.test(source.slice(-openStartLength))) return undefined
    }
    const { html, links } = finishHtml(source, this.#way, { ...tokens, links: markedTokens.links }, false)
    const finished = { source, texts: html.split(markedTokens.links), linksAtMost, links }
    if (source.length <= keptLengthMax) slot.last = finished
    return finished
  }
}

const isLinkTag = (name: string) => name === 'a' || name === 'area'

/** Returns the text of a slot, or undefined if it is not one of its place. */
function sourceOf(slot: Slot, outputs: readonly string[], tokens: EmailTokens): string | undefined {
  if (slot.kind === 'token') return tokens[slot.name]
  if (slot.kind === 'output') {
    const output = outputs[slot.index]!
    return slot.place === undefined || slot.place === 'content' || !/[<>"']/.test(output) ? output : undefined
  }
  let source = ''
  for (const part of slot.parts) {
    const text = typeof part === 'string' ? part : sourceOf(part, outputs, tokens)
    if (text === undefined) return undefined
    source += text
  }
  return source
}

function layOutText(outline: Outline, way: Way): TextLayout | undefined {
  const text = markedText(outline, way, (url) => url)
  if (text === undefined) return undefined
  const finished = finishText(text, way, markedTokens)
  const hasLine = finished !== text
  const end = text.trimEnd().at(-1)
  const endsWith = hasLine && end && end.search(marks) === 0 ? slotAt(end) : undefined
  return { ...splitAtSlots(finished, (index) => ({ kind: 'output', index, place: undefined })), hasLine, endsWith }
}

const finishText = (text: string, way: Way, tokens: EmailTokens): string =>
  way.isMarketing ? withUnsubscribeLine({ html: null, text }, unsubscribeUrlOf(way.baseUrl, tokens)).text : text

function layOutHtml(outline: Outline, way: Way): HtmlLayout | undefined {
  const unsubscribeUrl = unsubscribeUrlOf(way.baseUrl, markedTokens)
  const html = markedText(outline, way, escapeHtml)
  if (html === undefined || !survey(html, unsubscribeUrl)) return undefined
  const lined = way.isMarketing ? withUnsubscribeLine({ html, text: null }, unsubscribeUrl).html : html
  const found = survey(lined, unsubscribeUrl)
  if (!found || found.links > linksMax) return undefined

  const outputs = outline.filter((part) => typeof part !== 'string')
  const outputOf = (index: number): Output => ({
    kind: 'output',
    index,
    place: outputs[index]!.isEscaped ? undefined : found.places.get(index)!,
  })
  const slots: Slot[] = outputs.map((_, index) => outputOf(index))
  let cut = ''
  let copied = 0
  for (const { start, end } of found.tags) {
    const pieces = lined.slice(start, end).split(slotMark)
    const parts = pieces.map((piece, at) => (at % 2 === 0 ? piece : (tokenOf(piece) ?? outputOf(slotAt(piece)))))
    cut += lined.slice(copied, start) + markOf(slots.push({ kind: 'tag', parts }) - 1)
    copied = end
  }
  cut += lined.slice(copied)
  if (slots.length > slotsMax) return undefined
  const finished = finishHtml(cut, way, markedTokens, way.tracksOpens).html
  return {
    ...splitAtSlots(finished, (slot) => slots[slot]!),
    hasLine: lined !== html,
    linksAtMost: found.links - found.tags.length,
  }
}

/** Returns the template with marks for its outputs, or undefined if it contains such characters. */
function markedText(outline: Outline, way: Way, escaped: (url: string) => string): string | undefined {
  const url = unsubscribeUrlOf(way.baseUrl, markedTokens)
  let text = ''
  let slots = 0
  for (const part of outline) {
    if (typeof part !== 'string') {
      text += part.isUnsubscribeUrl ? (part.isEscaped ? escaped(url) : url) : markOf(slots)
      slots++
    } else if (part.search(marks) === -1) text += part
    else return undefined
  }
  return slots > slotsMax ? undefined : text
}

const tokenOf = (mark: string): Token | undefined =>
  mark === markedTokens.links
    ? { kind: 'token', name: 'links' }
    : mark === markedTokens.unsubscribe
      ? { kind: 'token', name: 'unsubscribe' }
      : undefined

function splitAtSlots<Kind>(text: string, slotOf: (index: number) => Kind) {
  const pieces = text.split(slotMark)
  const texts = pieces.filter((_, at) => at % 2 === 0)
  const slots = pieces.filter((_, at) => at % 2 === 1).map((mark) => tokenOf(mark) ?? slotOf(slotAt(mark)))
  const lengths = slots.map((slot) => ((slot as Slot).kind === 'token' ? emailTokenLength : undefined))
  return { form: new TextForm(texts, lengths), slots }
}

type Survey = {
  places: ReadonlyMap<number, Place>
  /** Tags of which outputs decide the link or the image. */
  tags: readonly { start: number; end: number }[]
  links: number
}

/** Finds out where outputs are. Returns undefined if one of them may decide where a tag or comment starts or ends. */
function survey(html: string, unsubscribeUrl: string): Survey | undefined {
  const places = new Map<number, Place>()
  const tags: Survey['tags'][number][] = []
  const hidden = new Set<number>()
  let isRegular = true
  let links = 0
  visitTags(html, {
    wants: () => true,
    visit: (name, start, attributes, end) => {
      if (isLinkTag(name)) links++
      let inAttributes = 0
      let isRead = false
      for (const attribute of attributes) {
        const text = html.slice(attribute.start, attribute.end)
        const found = text.match(marks) ?? []
        inAttributes += found.length
        for (const mark of found) places.set(slotAt(mark), 'attribute')
        if (found.length > 0 && text[0] !== '"' && text[0] !== "'") isRegular = false
        const hasUrl = text.includes(markedTokens.unsubscribe) && !isAddress(attribute, unsubscribeUrl)
        if ((found.length > 0 || hasUrl) && readsAttribute(name, attribute)) isRead = true
      }
      if (inAttributes !== (html.slice(start, end).match(marks)?.length ?? 0)) isRegular = false
      if (!isRead) return
      if (rawTextElements.has(name)) isRegular = false
      tags.push({ start, end })
    },
    skip: (start, end) => {
      for (const mark of html.slice(start, end).match(marks) ?? []) hidden.add(slotAt(mark))
    },
  })
  const outside = [...html.matchAll(marks)].filter(([mark]) => !places.has(slotAt(mark)))
  for (const { index } of outside)
    if (openStart.test(html.slice(Math.max(0, index - openStartLength), index).replace(marks, ''))) return undefined
  for (const { 0: mark, index } of outside) {
    const isHidden = hidden.has(slotAt(mark))
    // The end of a comment.
    if (isHidden && /^[\ue000-\uf8ff]*[->]/.test(html.slice(index + 1))) return undefined
    places.set(slotAt(mark), isHidden ? 'hidden' : 'content')
  }
  return isRegular ? { places, tags, links } : undefined
}

const readsAttribute = (tag: string, { name }: Attribute): boolean =>
  loadingAttributes.has(name) || (isLinkTag(tag) && (name === 'href' || name === 'data-waxwing-track'))

const isAddress = ({ value }: Attribute, url: string) => value === url || value === escapeHtml(url)

/** Laying out a longer template takes milliseconds. */
const lengthMax = 100_000
/** Of a version. Broadcasts may add parameters of their own to its links. */
const layoutsMax = 2

/** `layout` is undefined if there is none for this version. */
type Known = { key: string; layout: EmailLayout | undefined }
const knownLayouts = new WeakMap<CompiledTemplate, Known[]>()

/** Returns undefined if the version cannot be laid out for all of its emails. */
export function layoutOf({ template, stored }: ReadyVersion, flowId: FlowId, way: Way): EmailLayout | undefined {
  if (!template?.outline || stored.html.length > lengthMax) return undefined
  const { isMarketing, tracksClicks, tracksOpens, utmQuery, baseUrl } = way
  const key = `${flowId} ${isMarketing} ${tracksClicks} ${tracksOpens} ${baseUrl} ${utmQuery}`
  const known = knownLayouts.get(template) ?? []
  const found = known.find((one) => one.key === key)
  if (found) return found.layout
  const layout = EmailLayout.of(template.outline, way)
  knownLayouts.set(template, [{ key, layout }, ...known].slice(0, layoutsMax))
  return layout
}
