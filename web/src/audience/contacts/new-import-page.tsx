import { Button, Checkbox, Group, Select, Stack, Text, TextInput } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useNavigate } from 'react-router'
import { messageOf } from '../../api/api-error.ts'
import type { Group as ContactGroup, FileInspection } from '../../api/types.ts'
import { paths } from '../../paths.ts'
import { type Column, DataTable } from '../../ui/data-table.tsx'
import { fileSize } from '../../ui/file-size.ts'
import { Notice } from '../../ui/notice.tsx'
import { Page } from '../../ui/page.tsx'
import { Section } from '../../ui/section.tsx'
import { ErrorLine } from '../../ui/states.tsx'
import { createGroup, groupsQuery, inspectFile, uploadImport, useRefreshContacts } from './contacts.api.ts'
import { DropArea } from './drop-area.tsx'
import { type EncodedFile, toUtf8 } from './file-encoding.ts'
import { type ChosenGroup, findByName, GroupChoice } from './group-choice.tsx'
import { type ColumnChoice, suggestedChoices, type Target, toMapping } from './import-mapping.ts'
import { type Subscription, SubscriptionChoice } from './subscription-choice.tsx'

type ChosenFile = EncodedFile & { inspection: FileInspection; choices: ColumnChoice[] }

const targets: { value: Target; label: string }[] = [
  { value: 'email', label: 'Email' },
  { value: 'first_name', label: 'First name' },
  { value: 'last_name', label: 'Last name' },
  { value: 'status', label: 'Status' },
  { value: 'attribute', label: 'Attribute' },
  { value: 'ignore', label: 'Skip' },
]

export function NewImportPage() {
  const [chosen, setChosen] = useState<ChosenFile>()
  const open = useMutation({
    mutationFn: async (file: File) => inspected(await toUtf8(file)),
    onSuccess: setChosen,
  })
  return (
    <Page title="Import contacts" back={{ to: paths.imports, label: 'Imports' }}>
      {open.isError && (
        <ErrorLine>
          {open.variables.name}: {messageOf(open.error)}
        </ErrorLine>
      )}
      {chosen ? (
        <MapColumns chosen={chosen} setChosen={setChosen} />
      ) : (
        <DropArea loading={open.isPending} onFile={(file) => open.mutate(file)} />
      )}
    </Page>
  )
}

async function inspected(file: EncodedFile, hasHeader?: boolean): Promise<ChosenFile> {
  const inspection = await inspectFile(file.file, hasHeader)
  return { ...file, inspection, choices: suggestedChoices(inspection) }
}

type MapProps = { chosen: ChosenFile; setChosen: (chosen: ChosenFile | undefined) => void }

function MapColumns({ chosen, setChosen }: MapProps) {
  const navigate = useNavigate()
  const refresh = useRefreshContacts()
  const groups = useQuery(groupsQuery)
  const [group, setGroup] = useState<ChosenGroup | null>(null)
  const [subscription, setSubscription] = useState<Subscription>('subscribed')
  const { inspection } = chosen
  const mapping = toMapping(chosen.choices, inspection.has_header)
  const start = useMutation({
    mutationFn: async (dryRun: boolean) => {
      if (typeof mapping === 'string') throw new Error(mapping)
      const groupId = await idOf(group, async () => (await groups.refetch({ throwOnError: true })).data ?? [])
      if (groupId) setGroup({ id: groupId })
      return uploadImport(chosen.file, mapping, {
        group_id: groupId,
        subscription: groupId ? 'subscribed' : subscription,
        dry_run: dryRun,
      })
    },
    onSuccess: (started) => navigate(paths.contactImport(started.id)),
    onSettled: () => void refresh(),
  })
  // Set while the file is inspected again, so that the checkbox follows the click at once.
  const [wantsHeader, setWantsHeader] = useState<boolean>()
  const inspectAgain = useMutation({
    mutationFn: (hasHeader: boolean) => inspected(chosen, hasHeader),
    onSuccess: setChosen,
    onSettled: () => setWantsHeader(undefined),
  })
  const change = (index: number, part: Partial<ColumnChoice>) =>
    setChosen({
      ...chosen,
      choices: chosen.choices.map((choice, at) => (at === index ? { ...choice, ...part } : choice)),
    })
  const problem = start.error ?? inspectAgain.error

  return (
    <Stack gap="md">
      <Section title="Map columns" description={descriptionOf(chosen)}>
        <Checkbox
          label="The first row contains column names"
          description="Uncheck this if the first row is a contact."
          mb="md"
          checked={wantsHeader ?? inspection.has_header}
          onChange={(event) => {
            setWantsHeader(event.currentTarget.checked)
            inspectAgain.mutate(event.currentTarget.checked)
          }}
        />
        <DataTable
          label="Columns"
          columns={columns(chosen, change)}
          rows={chosen.choices.map((choice, index) => ({ choice, index }))}
          rowKey={(row) => String(row.index)}
        />
        {chosen.choices.some(({ target }) => target === 'status') && (
          <Text size="sm" c="dimmed" mt="xs">
            Contacts with the status “unsubscribed” or “no” are unsubscribed; “bounced”, “complained” and “suppressed”
            are suppressed. “Subscribed”, “active” and “yes” change nothing. Rows with any other status are rejected.
          </Text>
        )}
      </Section>
      {inspection.note && (
        <Notice tone="warn" title="Some columns are skipped">
          {inspection.note}
        </Notice>
      )}
      <GroupChoice
        label="Add to group"
        description="Members of a group are subscribed, unless they unsubscribed before."
        groups={groups.data ?? []}
        chosen={group}
        onChange={setGroup}
      />
      {!group && <SubscriptionChoice label="New contacts will be" value={subscription} onChange={setSubscription} />}
      <Text>
        Only import people who opted in. Contacts who unsubscribed here stay unsubscribed. A check reads the whole file
        and shows what an import would do.
      </Text>
      {inspection.problem && (
        <Notice tone="warn" title="The import would stop before the end of this file">
          {inspection.problem} Fix that row and choose the file again.
        </Notice>
      )}
      {problem && <ErrorLine>{messageOf(problem)}</ErrorLine>}
      <Group gap="xs">
        <Button
          loading={start.isPending && start.variables}
          disabled={typeof mapping === 'string' || start.isPending}
          onClick={() => start.mutate(true)}
        >
          Check file
        </Button>
        <Button
          variant="default"
          loading={start.isPending && !start.variables}
          disabled={typeof mapping === 'string' || start.isPending}
          onClick={() => start.mutate(false)}
        >
          Start import
        </Button>
        <Button variant="default" onClick={() => setChosen(undefined)}>
          Choose another file
        </Button>
        {typeof mapping === 'string' && (
          <Text c="var(--warn-text)" role="status">
            {mapping}
          </Text>
        )}
      </Group>
    </Stack>
  )
}

/** A name may have been typed before the groups were loaded, so it is looked up before the group is created. */
async function idOf(chosen: ChosenGroup | null, loadGroups: () => Promise<ContactGroup[]>): Promise<string | null> {
  if (!chosen) return null
  if ('id' in chosen) return chosen.id
  const { id } = findByName(await loadGroups(), chosen.name) ?? (await createGroup(chosen.name))
  return id
}

type Row = { choice: ColumnChoice; index: number }

const columns = (chosen: ChosenFile, change: (index: number, part: Partial<ColumnChoice>) => void): Column<Row>[] => [
  { header: 'Column', phone: 'title', cell: ({ choice }) => <Text fw={600}>{choice.title}</Text> },
  {
    header: 'Sample',
    cell: ({ index }) => {
      const examples = examplesOf(chosen, index)
      const isDecimal = chosen.inspection.columns[index]?.decimal_comma && chosen.choices[index]?.target === 'attribute'
      return (
        <>
          <Text size="xs" c="dimmed" truncate maw={420} title={examples}>
            {examples || '–'}
          </Text>
          {isDecimal && (
            <Text size="xs" c="dimmed">
              Numbers with a decimal comma: 12,5 is imported as 12.5.
            </Text>
          )}
        </>
      )
    },
  },
  {
    header: 'Import as',
    phone: 'bare',
    cell: ({ choice, index }) => (
      <Group gap="xs">
        <Select
          aria-label={`Import “${choice.title}” as`}
          size="xs"
          w={140}
          data={targets}
          value={choice.target}
          allowDeselect={false}
          onChange={(value) => change(index, { target: value as Target })}
        />
        {choice.target === 'attribute' && (
          <TextInput
            aria-label={`Attribute name for “${choice.title}”`}
            size="xs"
            w={160}
            value={choice.attribute}
            onChange={(event) => change(index, { attribute: event.currentTarget.value.trim() })}
          />
        )}
      </Group>
    ),
  },
]

const examplesOf = ({ inspection }: ChosenFile, index: number): string =>
  inspection.rows
    .map((row) => row[index])
    .filter(Boolean)
    .join(', ')

function descriptionOf({ file, encoding }: EncodedFile): string {
  const converted =
    encoding === 'UTF-8' ? '' : `. Converted from ${encoding}: if letters look wrong, save it as CSV (UTF-8).`
  return `${file.name}, ${fileSize(file.size)}${converted}`
}
