import { compilers } from './sources.ts'
import type { StoredTemplate, TemplateSource } from './template.ts'

// CPU time on two cores with ten times the load they can handle, with warm code: preparing 200 tags takes 3 to 6 ms,
// one tag of 5,000 characters 7 ms, 200,000 characters of text 12 ms. Compiling source takes three times as long,
// because each part is parsed twice and the text is derived.
const lightTagsMax = 200
const lightTagLengthMax = 5_000
const lightLengthMax = 150_000
const lightSourceTagsMax = 40
const lightSourceTagLengthMax = 1_500
const lightSourceLengthMax = 10_000
const lightElementsMax = 200

/** Returns whether a stored template can be prepared on the main thread within about 10 ms. */
export function isLight(stored: StoredTemplate): boolean {
  return areLight([stored.subject, stored.html, textOf(stored)], {
    length: lightLengthMax,
    tags: lightTagsMax,
    tagLength: lightTagLengthMax,
  })
}

/** Like `isLight`, for compiling source. MJML is never light, and the text has to be derived. */
export function isLightSource({ subject, source, text }: TemplateSource): boolean {
  return (
    !compilers[source.format].needsTask &&
    areLight([subject, source.text, text ?? ''], {
      length: lightSourceLengthMax,
      tags: lightSourceTagsMax,
      tagLength: lightSourceTagLengthMax,
    }) &&
    countOf(source.text, '<', lightElementsMax) <= lightElementsMax
  )
}

/** Returns an upper estimate of the memory that a prepared template takes with the layouts of its emails, in bytes. */
export function weightOf(stored: StoredTemplate): number {
  const sources = [stored.subject, stored.html, textOf(stored)]
  const { tags, tagLength } = measureTags(sources, Number.POSITIVE_INFINITY)
  return 2_000 + 12 * lengthOf(sources) + 5_000 * tags + 150 * tagLength
}

const textOf = ({ text }: StoredTemplate) => (text.from === 'html' ? '' : text.source)
const lengthOf = (sources: readonly string[]) => sources.reduce((sum, source) => sum + source.length, 0)

function areLight(sources: readonly string[], max: { length: number; tags: number; tagLength: number }): boolean {
  if (lengthOf(sources) > max.length) return false
  const { tags, tagLength } = measureTags(sources, max.tags)
  return tags <= max.tags && tagLength <= max.tagLength
}

/** Stops counting beyond `tagsMax`. */
function measureTags(sources: readonly string[], tagsMax: number): { tags: number; tagLength: number } {
  let tags = 0
  let tagLength = 0
  for (const source of sources) {
    let at = source.indexOf('{')
    while (at !== -1 && tags <= tagsMax) {
      const kind = source[at + 1]
      if (kind !== '{' && kind !== '%') {
        at = source.indexOf('{', at + 1)
        continue
      }
      const end = source.indexOf(kind === '%' ? '%}' : '}}', at)
      tags++
      tagLength += (end === -1 ? source.length : end) - at
      at = end === -1 ? -1 : source.indexOf('{', end)
    }
  }
  return { tags, tagLength }
}

function countOf(text: string, character: string, max: number): number {
  let count = 0
  for (let at = text.indexOf(character); at !== -1 && count <= max; at = text.indexOf(character, at + 1)) count++
  return count
}
