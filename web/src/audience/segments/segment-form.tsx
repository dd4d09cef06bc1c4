import { Button, Group, Stack, TextInput } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { type ReactNode, useMemo, useState } from 'react'
import type { Filter, Segment } from '../../api/types.ts'
import { useRequestForm } from '../../ui/form.tsx'
import { Section } from '../../ui/section.tsx'
import { Empty, ErrorLine, Load } from '../../ui/states.tsx'
import { ContactTable } from '../contacts/contact-table.tsx'
import { useContacts } from '../contacts/contacts.api.ts'
import { FilterBuilder } from './filter-builder.tsx'
import { toDraft, toFilter } from './filter-draft.ts'
import { MatchingCount } from './matching-count.tsx'

const typingPauseMs = 400
const previewRows = 10

type Props = {
  name: string
  filter: Filter | undefined
  action: string
  save: (input: { name: string; filter: Filter }) => Promise<Segment>
  onSaved: (segment: Segment) => void
  children?: ReactNode
}

/** The name and filter of a segment, with the number of contacts that match and the newest of them. */
export function SegmentForm({ name, filter: saved, action, save, onSaved, children }: Props) {
  const [draft, setDraft] = useState(() => toDraft(saved))
  const filter = useMemo(() => toFilter(draft), [draft])
  const form = useRequestForm({
    initialValues: { name },
    validate: (values) => ({ name: values.name.trim() ? undefined : 'Name is required.' }),
    send: (values) => save({ name: values.name.trim(), filter: filter! }),
    onSaved,
  })
  return (
    <>
      <form noValidate onSubmit={form.submit}>
        <Stack gap="md" mb="xl">
          <TextInput label="Name" required maxLength={200} maw={420} {...form.field('name')} />
          <FilterBuilder draft={draft} onChange={setDraft} />
          <ErrorLine>{form.problem}</ErrorLine>
          <Group gap="xs">
            <Button type="submit" loading={form.sending} disabled={!filter}>
              {action}
            </Button>
            {children}
          </Group>
        </Stack>
      </form>
      <Preview filter={filter} />
    </>
  )
}

/** Follows the conditions when typing pauses, and keeps the last complete ones. */
function Preview({ filter }: { filter: Filter | undefined }) {
  const text = filter ? JSON.stringify(filter) : ''
  const [complete, setComplete] = useState(text)
  if (text && text !== complete) setComplete(text)
  const [shown] = useDebouncedValue(complete, typingPauseMs)
  if (!shown) return null
  return (
    <Section title="Matching contacts" description={<MatchingCount filter={{ filter: shown }} />}>
      <PreviewRows filter={shown} />
    </Section>
  )
}

function PreviewRows({ filter }: { filter: string }) {
  const contacts = useContacts({ query: '', group_id: '', segment_id: '', import_id: '', status: '', filter })
  return (
    <Load
      query={contacts}
      isEmpty={(list) => list.length === 0}
      empty={<Empty title="No contacts match">Change the conditions.</Empty>}
    >
      {(list) => <ContactTable contacts={list.slice(0, previewRows)} />}
    </Load>
  )
}
