import { Button, Group, Stack, Text } from '@mantine/core'
import { Notice } from '../ui/notice.tsx'
import type { Base } from './use-flow-draft.ts'

type Props = { newer: Base; onLoad: () => void; onSave: () => void }

/** Two people changed the same text: the second one to save decides. */
export function NewerVersion({ newer, onLoad, onSave }: Props) {
  const isDraft = newer.revision > 0
  return (
    <Notice
      role="alert"
      tone="warn"
      title={isDraft ? 'Someone else saved this draft' : `Someone else published version ${newer.version}`}
    >
      <Stack gap="xs">
        <Text>
          {isDraft
            ? 'Your unsaved changes are based on an earlier draft. If you save them, they replace the fields that you changed.'
            : `Your unsaved changes are based on an earlier version. If you save them, they become a draft on top of version ${newer.version}.`}
        </Text>
        <Group gap="xs">
          <Button size="xs" variant="default" onClick={onLoad}>
            Discard my changes
          </Button>
          <Button size="xs" onClick={onSave}>
            Save my changes anyway
          </Button>
        </Group>
      </Stack>
    </Notice>
  )
}
