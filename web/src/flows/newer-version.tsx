import { Anchor, Button, Group, Stack, Text } from '@mantine/core'
import { Link } from 'react-router'
import type { Flow } from '../api/types.ts'
import { paths } from '../paths.ts'
import { Notice } from '../ui/notice.tsx'

type Props = { newer: Flow; base: Flow; onLoad: () => void; onSave: () => void }

/** Two people changed the same version: the second one to save decides. */
export function NewerVersion({ newer, base, onLoad, onSave }: Props) {
  return (
    <Notice role="alert" tone="warn" title={`Someone else saved version ${newer.version}`}>
      <Stack gap="xs">
        <Text>
          Your unsaved changes are based on version {base.version}. If you save them, they replace version{' '}
          {newer.version}, which stays available under{' '}
          <Anchor component={Link} to={paths.flowTab(newer.id, 'versions')} underline="always">
            Versions
          </Anchor>
          .
        </Text>
        <Group gap="xs">
          <Button size="xs" variant="default" onClick={onLoad}>
            Discard my changes and load version {newer.version}
          </Button>
          <Button size="xs" onClick={onSave}>
            Save my changes anyway
          </Button>
        </Group>
      </Stack>
    </Notice>
  )
}
