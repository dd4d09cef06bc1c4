import { Button } from '@mantine/core'
import { IconDownload } from '@tabler/icons-react'
import { useMutation } from '@tanstack/react-query'
import { messageOf } from '../../../api/api-error.ts'
import { type Cell, downloadCsv } from '../../../ui/csv.ts'
import { ErrorLine } from '../../../ui/states.tsx'

type Props = {
  /** Without its extension. */
  name: string
  /** Names the list for screen readers. */
  label: string
  header: string[]
  rows: () => Cell[][] | Promise<Cell[][]>
}

export function CsvButton({ name, label, header, rows }: Props) {
  const save = useMutation({ mutationFn: async () => downloadCsv(name, header, await rows()) })
  return (
    <>
      <Button
        variant="default"
        size="xs"
        leftSection={<IconDownload size={14} aria-hidden />}
        loading={save.isPending}
        onClick={() => save.mutate()}
        aria-label={`Download ${label} as CSV`}
      >
        CSV
      </Button>
      <ErrorLine>{save.isError && messageOf(save.error)}</ErrorLine>
    </>
  )
}
