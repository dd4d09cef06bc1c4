import { MultiSelect, Stack } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { fieldProblem } from '../api/api-error.ts'
import { groupsQuery } from '../contacts/contacts.api.ts'
import { segmentsQuery } from '../segments/segments.api.ts'
import { optionsOf } from '../ui/filters.tsx'
import { count } from '../ui/numbers.ts'
import type { Draft } from './draft.ts'

export type FieldsProps = { draft: Draft; set: (changes: Partial<Draft>) => void; error: unknown }

export function AudienceFields({ draft, set, error }: FieldsProps) {
  const groups = useQuery(groupsQuery)
  const segments = useQuery(segmentsQuery)
  const data = [
    {
      group: 'Groups',
      items: (groups.data ?? []).map(({ id, name, member_count }) => ({
        value: id,
        label: `${name} (${count(member_count)})`,
      })),
    },
    { group: 'Segments', items: optionsOf(segments.data) },
  ].filter(({ items }) => items.length > 0)
  const isSegment = (id: string) => segments.data?.some((segment) => segment.id === id) ?? false
  const split = (ids: string[]) => [ids.filter((id) => !isSegment(id)), ids.filter(isSegment)] as const
  return (
    <Stack gap="sm">
      <MultiSelect
        label="Send to"
        description="Groups and segments. A contact in several of them gets one email."
        placeholder={draft.groups.length + draft.segments.length === 0 ? 'Choose groups and segments' : ''}
        required
        searchable
        clearable
        data={data}
        value={[...draft.groups, ...draft.segments]}
        onChange={(ids) => {
          const [chosen, filtered] = split(ids)
          set({ groups: chosen, segments: filtered })
        }}
        error={fieldProblem(error, 'audience')}
      />
      <MultiSelect
        label="Exclude"
        description="Contacts in these groups and segments get nothing."
        placeholder={draft.excludedGroups.length + draft.excludedSegments.length === 0 ? 'None' : ''}
        searchable
        clearable
        data={data}
        value={[...draft.excludedGroups, ...draft.excludedSegments]}
        onChange={(ids) => {
          const [chosen, filtered] = split(ids)
          set({ excludedGroups: chosen, excludedSegments: filtered })
        }}
      />
    </Stack>
  )
}
