import { Text } from '@mantine/core'

type Creator = { id: string; email: string | null } | null

export function CreatedBy({ creator }: { creator: Creator }) {
  if (creator?.email)
    return (
      <Text size="xs" className="break">
        {creator.email}
      </Text>
    )
  return (
    <Text size="xs" c="dimmed">
      {creator ? 'Former member' : 'Not recorded'}
    </Text>
  )
}
