import { Box, Button, FileButton } from '@mantine/core'
import { IconUpload } from '@tabler/icons-react'
import { useMutation } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { formProblem } from '../api/api-error.ts'
import { keys, useInvalidate } from '../api/keys.ts'
import type { Image } from '../api/types.ts'
import { ErrorLine } from '../ui/states.tsx'
import { imageTypes, uploadImage } from './images.api.ts'

type Upload = { sending: boolean; problem: ReactNode; send: (files: readonly File[]) => void }

/** Sends files one after the other. `onUploaded` gets each image. */
export function useUpload(onUploaded?: (image: Image) => void): Upload {
  const invalidate = useInvalidate()
  const upload = useMutation({
    mutationFn: async (files: readonly File[]) => {
      for (const file of files) {
        const image = await uploadImage(file)
        onUploaded?.(image)
      }
    },
    onSettled: () => invalidate(keys.imageLists),
  })
  return {
    sending: upload.isPending,
    problem: formProblem(upload.error),
    send: (files) => files.length > 0 && upload.mutate(files),
  }
}

export function UploadButton({ upload, variant = 'filled' }: { upload: Upload; variant?: 'filled' | 'default' }) {
  return (
    <FileButton
      multiple
      accept={imageTypes.join(',')}
      onChange={upload.send}
      inputProps={{ 'aria-label': 'Image files' }}
    >
      {(props) => (
        <Button
          variant={variant}
          leftSection={<IconUpload size={16} aria-hidden />}
          loading={upload.sending}
          {...props}
        >
          Upload images
        </Button>
      )}
    </FileButton>
  )
}

/** Accepts files that are dropped on its content, and shows why one was rejected. */
export function DropImages({ upload, children }: { upload: Upload; children: ReactNode }) {
  const [over, setOver] = useState(false)
  return (
    <Box
      style={over ? { outline: '2px dashed var(--highlight)', outlineOffset: 8, borderRadius: 8 } : {}}
      onDragOver={(event) => {
        event.preventDefault()
        setOver(true)
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault()
        setOver(false)
        upload.send([...event.dataTransfer.files])
      }}
    >
      {upload.problem && (
        <Box mb="sm">
          <ErrorLine>{upload.problem}</ErrorLine>
        </Box>
      )}
      {children}
    </Box>
  )
}
