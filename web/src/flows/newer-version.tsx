import { Anchor, Button, Group, Stack, Text } from '@mantine/core'
import { Link } from 'react-router'
import type { Flow } from '../api/types.ts'
import { paths } from '../paths.ts'
import { Notice } from '../ui/notice.tsx'

type Props = { newer: Flow; base: Flow; onLoad: () => void; onSave: () => void }

/** Two people have changed the same version: the one who comes second decides. */
export function NewerVersion({ newer, base, onLoad, onSave }: Props) {
  return (
    <Notice role="alert" tone="warn" title={`Somebody else has saved version ${newer.version} meanwhile`}>
      <Stack gap="xs">
        <Text>
          Your changes were made from version {base.version} and are not saved. If you save them, the flow says what
          stands in your editor, and version {newer.version} remains under{' '}
          <Anchor component={Link} to={paths.flowTab(newer.id, 'versions')} underline="always">
            Versions
          </Anchor>
          .
        </Text>
        <Group gap="xs">
          <Button size="xs" variant="default" onClick={onLoad}>
            Discard mine and load version {newer.version}
          </Button>
          <Button size="xs" onClick={onSave}>
            Save mine anyway
          </Button>
        </Group>
      </Stack>
    </Notice>
  )
}
