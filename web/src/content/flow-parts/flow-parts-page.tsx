import { Button, Code, UnstyledButton } from '@mantine/core'
import { IconPlus, IconPuzzle } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { keys, useInvalidate } from '../../api/keys.ts'
import type { FlowPartSummary } from '../../api/types.ts'
import { ActionMenu } from '../../ui/action-menu.tsx'
import type { Column } from '../../ui/data-table.tsx'
import { TableList } from '../../ui/list.tsx'
import { Time } from '../../ui/time.tsx'
import { toast } from '../../ui/toast.tsx'
import { FlowsFrame } from '../flows/flows-frame.tsx'
import { deleteFlowPart, flowPartsQuery } from './flow-parts.api.ts'
import { EditPartDialog, NewPartDialog } from './part-dialogs.tsx'

export function FlowPartsPage() {
  const parts = useQuery(flowPartsQuery)
  const invalidate = useInvalidate()
  const [adding, setAdding] = useState(false)
  const [editing, setEditing] = useState<FlowPartSummary>()
  const add = (
    <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={() => setAdding(true)}>
      Create part
    </Button>
  )
  const remove = async (part: FlowPartSummary) => {
    await deleteFlowPart(part.id)
    await invalidate(keys.flowParts)
    toast('Part deleted.')
  }
  return (
    <FlowsFrame tab="Parts" actions={parts.data && parts.data.length > 0 && add}>
      <TableList
        label="Parts"
        query={parts}
        columns={columns(setEditing, remove)}
        rowKey={({ id }) => id}
        empty={{
          title: 'No parts yet',
          icon: IconPuzzle,
          action: add,
          children: 'A part is a piece of a template that several flows include, such as a footer.',
        }}
      />
      {adding && <NewPartDialog onClose={() => setAdding(false)} />}
      {editing && <EditPartDialog part={editing} onClose={() => setEditing(undefined)} />}
    </FlowsFrame>
  )
}

const columns = (
  onEdit: (part: FlowPartSummary) => void,
  remove: (part: FlowPartSummary) => Promise<void>,
): Column<FlowPartSummary>[] => [
  {
    header: 'Name',
    phone: 'title',
    cell: (part) => (
      <UnstyledButton fw={600} c="var(--accent)" onClick={() => onEdit(part)}>
        {part.name}
      </UnstyledButton>
    ),
  },
  { header: 'Tag', cell: (part) => <Code className="break">{`{% part "${part.name}" %}`}</Code> },
  { header: 'Updated', align: 'right', cell: (part) => <Time at={part.updated_at} /> },
  {
    header: 'Actions',
    align: 'right',
    phone: 'bare',
    cell: (part) => (
      <ActionMenu
        row={part.name}
        actions={[
          { label: 'Edit', run: () => onEdit(part) },
          {
            label: 'Delete',
            danger: true,
            confirm: {
              title: 'Delete part?',
              children:
                'Published flows keep its text. Flows that include it can’t be published again until you remove it.',
              action: 'Delete part',
              run: () => remove(part),
            },
          },
        ]}
      />
    ),
  },
]
