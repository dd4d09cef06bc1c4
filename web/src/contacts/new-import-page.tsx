import { Button, Checkbox, Group, Radio, Select, Stack, Text, TextInput } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useNavigate } from 'react-router'
import { messageOf } from '../api/api-error.ts'
import { paths } from '../paths.ts'
import { type Column, DataTable } from '../ui/data-table.tsx'
import { Notice } from '../ui/notice.tsx'
import { count } from '../ui/numbers.ts'
import { Page } from '../ui/page.tsx'
import { Section } from '../ui/section.tsx'
import { ErrorLine } from '../ui/states.tsx'
import { groupsQuery, type ImportInto, startImport } from './contacts.api.ts'
import { type CsvFile, openCsv } from './csv-file.ts'
import type { CsvHead } from './csv-head.ts'
import {
  type ColumnChoice,
  choicesByPosition,
  guessChoices,
  looksLikeData,
  type Target,
  toMapping,
} from './csv-mapping.ts'
import { DropArea } from './drop-area.tsx'

type Chosen = CsvFile & { firstLineIsData: boolean; choices: ColumnChoice[] }

const targets: { value: Target; label: string }[] = [
  { value: 'email', label: 'Email' },
  { value: 'first_name', label: 'First name' },
  { value: 'last_name', label: 'Last name' },
  { value: 'status', label: 'Status' },
  { value: 'attribute', label: 'Attribute' },
  { value: 'ignore', label: 'Leave out' },
]

export function NewImportPage() {
  const [chosen, setChosen] = useState<Chosen>()
  const [problem, setProblem] = useState<string>()
  const take = async (file: File) => {
    const csv = await openCsv(file)
    if (typeof csv === 'string') {
      setProblem(csv)
      return
    }
    const { head } = csv
    if (head.firstRow.length === 0) {
      setProblem(`${file.name} is empty.`)
      return
    }
    const firstLineIsData = looksLikeData(head.firstRow)
    // Names with this character in them come from bytes that are no text; the service takes no such header.
    if (!firstLineIsData && head.firstRow.some((name) => name.includes('\ufffd'))) {
      setProblem(`${file.name} is not in UTF-8. Save it as CSV (UTF-8) and choose that.`)
      return
    }
    setProblem(undefined)
    setChosen({ ...csv, ...choicesFor(head, firstLineIsData) })
  }
  return (
    <Page title="Import contacts" back={{ to: paths.imports, label: 'Imports' }}>
      <ErrorLine>{problem}</ErrorLine>
      {chosen ? <MapColumns chosen={chosen} setChosen={setChosen} /> : <DropArea onFile={(file) => void take(file)} />}
    </Page>
  )
}

const choicesFor = ({ firstRow }: CsvHead, firstLineIsData: boolean) => ({
  firstLineIsData,
  choices: firstLineIsData ? choicesByPosition(firstRow) : guessChoices(firstRow),
})

type MapProps = { chosen: Chosen; setChosen: (chosen: Chosen | undefined) => void }

function MapColumns({ chosen, setChosen }: MapProps) {
  const navigate = useNavigate()
  const groups = useQuery(groupsQuery)
  const [groupId, setGroupId] = useState<string | null>(null)
  const [subscription, setSubscription] = useState<ImportInto['subscription']>('subscribed')
  const mapping = toMapping(chosen.choices, chosen.firstLineIsData)
  const start = useMutation({
    mutationFn: async () => {
      if (typeof mapping === 'string') throw new Error(mapping)
      return startImport(chosen.file, mapping, {
        group_id: groupId,
        subscription: groupId ? 'subscribed' : subscription,
      })
    },
    onSuccess: (started) => navigate(paths.contactImport(started.id)),
  })
  const change = (index: number, part: Partial<ColumnChoice>) =>
    setChosen({
      ...chosen,
      choices: chosen.choices.map((choice, at) => (at === index ? { ...choice, ...part } : choice)),
    })

  return (
    <Stack gap="md">
      <Checkbox
        label="The first line is data"
        description="Instead of the names of the columns it holds a person, who is imported too."
        checked={chosen.firstLineIsData}
        onChange={(event) => setChosen({ ...chosen, ...choicesFor(chosen.head, event.currentTarget.checked) })}
      />
      <Section title="What each column becomes" description={descriptionOf(chosen)}>
        <DataTable
          label="Columns"
          columns={columns(chosen, change)}
          rows={chosen.choices.map((choice, index) => ({ choice, index }))}
          rowKey={(row) => String(row.index)}
        />
        {chosen.choices.some(({ target }) => target === 'status') && (
          <Text size="sm" c="dimmed" mt="xs">
            By their status, people become unsubscribed (“unsubscribed”, “no”) or get no mail at all (“bounced”,
            “complained”, “suppressed”). “Subscribed”, “active” and “yes” change nothing; a line with another word is
            refused.
          </Text>
        )}
      </Section>
      <Select
        label="Add everybody to a group"
        description="Members of a group are subscribed, unless they unsubscribed before."
        placeholder="No group"
        clearable
        searchable
        maw={420}
        data={groups.data?.map((group) => ({ value: group.id, label: group.name })) ?? []}
        value={groupId}
        onChange={setGroupId}
      />
      {!groupId && (
        <Radio.Group
          label="Whoever is new becomes"
          value={subscription}
          onChange={(value) => setSubscription(value as ImportInto['subscription'])}
        >
          <Stack gap="xs" mt="xs">
            <Radio value="subscribed" label="Subscribed" description="Gets your marketing and transactional mail." />
            <Radio value="not_subscribed" label="Not subscribed" description="Gets transactional mail only." />
          </Stack>
        </Radio.Group>
      )}
      <Text>
        Import only people who agreed to get your mail. Whoever unsubscribed here stays unsubscribed, whatever the file
        says.
      </Text>
      {chosen.openQuoteLine !== undefined && (
        <Notice tone="warn" title={`A quote is opened in line ${count(chosen.openQuoteLine)} and never closed.`}>
          The import would end before it. Mend that line in the file and choose it again.
        </Notice>
      )}
      {typeof mapping === 'string' && <Text c="var(--warn-text)">{mapping}</Text>}
      {start.isError && <ErrorLine>{messageOf(start.error)}</ErrorLine>}
      <Group gap="xs">
        <Button loading={start.isPending} disabled={typeof mapping === 'string'} onClick={() => start.mutate()}>
          Start import
        </Button>
        <Button variant="default" onClick={() => setChosen(undefined)}>
          Choose another file
        </Button>
      </Group>
    </Stack>
  )
}

type Row = { choice: ColumnChoice; index: number }

const columns = (chosen: Chosen, change: (index: number, part: Partial<ColumnChoice>) => void): Column<Row>[] => [
  { header: 'Column', phone: 'title', cell: ({ choice }) => <Text fw={600}>{choice.header}</Text> },
  {
    header: 'For example',
    cell: ({ index }) => {
      const examples = examplesOf(chosen, index)
      return (
        <Text size="xs" c="dimmed" truncate maw={420} title={examples}>
          {examples || '–'}
        </Text>
      )
    },
  },
  {
    header: 'Becomes',
    phone: 'bare',
    cell: ({ choice, index }) => (
      <Group gap="xs">
        <Select
          aria-label={`What “${choice.header}” becomes`}
          size="xs"
          w={140}
          data={targets}
          value={choice.target}
          allowDeselect={false}
          onChange={(value) => change(index, { target: value as Target })}
        />
        {choice.target === 'attribute' && (
          <TextInput
            aria-label={`Name of the attribute for “${choice.header}”`}
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

const examplesOf = ({ head, firstLineIsData }: Chosen, index: number): string =>
  (firstLineIsData ? [head.firstRow, ...head.nextRows] : head.nextRows)
    .map((row) => row[index])
    .filter(Boolean)
    .join(', ')

function descriptionOf({ file, encoding }: CsvFile): string {
  const read =
    encoding === 'UTF-8' ? '' : `. It was read as ${encoding}: if letters look wrong, save it as CSV (UTF-8).`
  return `${file.name}, ${size(file.size)}${read}`
}

function size(bytes: number): string {
  return bytes < 1024 * 1024 ? `${Math.ceil(bytes / 1024)} KB` : `${(bytes / 1024 / 1024).toFixed(1)} MB`
}
