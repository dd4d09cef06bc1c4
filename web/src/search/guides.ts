import { queryOptions } from '@tanstack/react-query'
import { guides } from '../ui/api-reference.tsx'

/** A part of a guide, from the search index of the guides. */
export type GuideSection = { guide: string; title: string; heading: string; anchor: string; text: string }

const shownMax = 5

export const guideIndexQuery = queryOptions({
  queryKey: ['guides'],
  queryFn: async (): Promise<GuideSection[]> => {
    const response = await fetch(`${guides}search-index.json`)
    return response.ok ? response.json() : []
  },
  staleTime: Number.POSITIVE_INFINITY,
  retry: false,
})

/** The sections that contain all words, those with the words in their heading or title first. */
export function guidesFound(sections: GuideSection[], query: string): GuideSection[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean)
  const rankOf = ({ title, heading, text }: GuideSection) => {
    const places = [heading || title, `${heading} ${title}`, `${heading} ${title} ${text}`]
    return places.findIndex((place) => words.every((word) => place.toLowerCase().includes(word)))
  }
  return sections
    .map((section) => ({ section, rank: rankOf(section) }))
    .filter(({ rank }) => rank !== -1)
    .sort((one, other) => one.rank - other.rank)
    .slice(0, shownMax)
    .map(({ section }) => section)
}
