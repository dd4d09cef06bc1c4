import { referenceText } from './reference-texts.ts'

/** The groups of the reference (`#`) and their tags (`##`) with their descriptions, in the order in which they are shown. */
const groups = referenceText('tags.md')
  .split(/^# /m)
  .slice(1)
  .map((group) => {
    const [name = '', ...sections] = group.split(/^## /m)
    const tags = sections.map((section) => {
      const [tag = '', description = ''] = section.split(/\n\n(.*)/s)
      return { name: tag, description: description.trim() }
    })
    return { name: name.trim(), tags }
  })

export const tags = groups.flatMap((group) => group.tags)
export const tagGroups = groups.map((group) => ({ name: group.name, tags: group.tags.map(({ name }) => name) }))
