import { Button } from '@mantine/core'
import { IconDownload } from '@tabler/icons-react'
import { useMutation } from '@tanstack/react-query'
import { messageOf } from '../api/api-error.ts'
import { toast } from './toast.tsx'

/** Downloads a list. */
export function ExportButton({ run, size = 'sm' }: { run: () => Promise<void>; size?: 'xs' | 'sm' }) {
  const save = useMutation({ mutationFn: run, onError: (error) => toast(messageOf(error), 'bad') })
  return (
    <Button
      variant="default"
      size={size}
      leftSection={<IconDownload size={size === 'xs' ? 14 : 16} aria-hidden />}
      loading={save.isPending}
      onClick={() => save.mutate()}
    >
      Export CSV
    </Button>
  )
}
