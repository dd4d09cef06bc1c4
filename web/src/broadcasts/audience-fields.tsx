import { Anchor, Input, MultiSelect, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from 'react-router'
import { groupsQuery } from '../audience/contacts/contacts.api.ts'
import { segmentsQuery } from '../audience/segments/segments.api.ts'
import { paths } from '../paths.ts'
import { optionsOf } from '../ui/filters.tsx'
import { count } from '../ui/numbers.ts'
import { AudienceCount } from './audience-count.tsx'
import { broadcastQuery } from './broadcasts.api.ts'
import type { DraftForm } from './draft-form.ts'

const allSubscribed = 'all_subscribed'

export function AudienceFields({ form }: { form: DraftForm }) {
  const { audience } = form.values
  const set = (changes: Partial<typeof audience>) => form.set({ audience: { ...audience, ...changes } })
  const groups = useQuery(groupsQuery)
  const segments = useQuery(segmentsQuery)
  const choices = [
    {
      group: 'Groups',
      items: (groups.data ?? []).map(({ id, name, member_count }) => ({
        value: id,
        label: `${name} (${count(member_count)})`,
      })),
    },
    { group: 'Segments', items: optionsOf(segments.data) },
  ].filter(({ items }) => items.length > 0)
  const everyone = { group: 'Everyone', items: [{ value: allSubscribed, label: 'All subscribed contacts' }] }
  const included = audience.all_subscribed ? [allSubscribed] : [...audience.group_ids, ...audience.segment_ids]
  const isSegment = (id: string) => segments.data?.some((segment) => segment.id === id) ?? false
  const split = (ids: string[]) => [ids.filter((id) => !isSegment(id)), ids.filter(isSegment)] as const
  return (
    <Stack gap="sm">
      {audience.not_opened_broadcast_id !== null ? (
        <Input.Wrapper
          label="Send to"
          description="Determined when this broadcast starts. A click counts as an open; automated opens don’t."
        >
          <Text>
            <NotOpened id={audience.not_opened_broadcast_id} />
          </Text>
        </Input.Wrapper>
      ) : (
        <MultiSelect
          label="Send to"
          description="Everyone, or groups and segments. A contact in several of them gets one email."
          placeholder={included.length === 0 ? 'Choose who gets it' : ''}
          required
          searchable
          clearable
          data={[everyone, ...choices]}
          value={included}
          onChange={(ids) => {
            // The choice that was added last replaces the other kind.
            const isEveryone = ids.at(-1) === allSubscribed
            const [chosen, filtered] = split(isEveryone ? [] : ids.filter((id) => id !== allSubscribed))
            set({ all_subscribed: isEveryone, group_ids: chosen, segment_ids: filtered })
          }}
          error={form.field('audience').error}
        />
      )}
      <MultiSelect
        label="Exclude"
        description="Contacts in these groups and segments get nothing."
        placeholder={audience.exclude_group_ids.length + audience.exclude_segment_ids.length === 0 ? 'None' : ''}
        searchable
        clearable
        data={choices}
        value={[...audience.exclude_group_ids, ...audience.exclude_segment_ids]}
        onChange={(ids) => {
          const [chosen, filtered] = split(ids)
          set({ exclude_group_ids: chosen, exclude_segment_ids: filtered })
        }}
      />
      <AudienceCount audience={audience} isAnnouncement={form.values.service_announcement} />
    </Stack>
  )
}

/** The audience of a broadcast that is sent again. */
export function NotOpened({ id }: { id: string }) {
  const broadcast = useQuery(broadcastQuery(id))
  return (
    <>
      Recipients who have not opened{' '}
      <Anchor component={Link} to={paths.broadcast(id)}>
        {broadcast.data?.name ?? 'the first broadcast'}
      </Anchor>
    </>
  )
}
