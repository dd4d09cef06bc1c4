import { Button, Group, Stack, Text } from '@mantine/core'
import { Notice } from './notice.tsx'

type Props = { title: string; children: string; onLoad: () => void; onSave: () => void }

/** Two people changed the same record: the second one to save decides. */
export function ConflictNotice({ title, children, onLoad, onSave }: Props) {
  return (
    <Notice role="alert" tone="warn" title={title}>
      <Stack gap="xs">
        <Text>{children}</Text>
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
