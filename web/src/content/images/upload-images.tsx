import { Box, Button, FileButton } from '@mantine/core'
import { IconUpload } from '@tabler/icons-react'
import { useMutation } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { formProblem } from '../../api/api-error.ts'
import { keys, useInvalidate } from '../../api/keys.ts'
import type { Image } from '../../api/types.ts'
import { ErrorLine } from '../../ui/states.tsx'
import { imageTypes, uploadImage } from './images.api.ts'

type Upload = { multiple: boolean; sending: boolean; problems: string[]; send: (files: readonly File[]) => void }

/** Sends files one after the other, also if some of them are rejected. */
export function useUploads(): Upload {
  const invalidate = useInvalidate()
  const upload = useMutation({
    mutationFn: async (files: readonly File[]) => {
      const problems: string[] = []
      for (const file of files)
        await uploadImage(file).catch((error) => problems.push(`${file.name}: ${formProblem(error)}`))
      return problems
    },
    onSettled: () => invalidate(keys.imageLists),
  })
  return {
    multiple: true,
    sending: upload.isPending,
    problems: upload.data ?? [],
    send: (files) => files.length > 0 && upload.mutate(files),
  }
}

/** Sends one file. */
export function useUpload(onUploaded: (image: Image) => void): Upload {
  const invalidate = useInvalidate()
  const upload = useMutation({
    mutationFn: async ([file, ...others]: readonly File[]) => {
      if (others.length > 0) throw new Error('Choose one image.')
      return uploadImage(file!)
    },
    onSuccess: onUploaded,
    onSettled: () => invalidate(keys.imageLists),
  })
  return {
    multiple: false,
    sending: upload.isPending,
    problems: [formProblem(upload.error)].filter((problem) => problem !== undefined),
    send: (files) => files.length > 0 && upload.mutate(files),
  }
}

export function UploadButton({ upload, variant = 'filled' }: { upload: Upload; variant?: 'filled' | 'default' }) {
  return (
    <FileButton
      multiple={upload.multiple}
      accept={imageTypes.join(',')}
      onChange={(chosen: File | File[] | null) => upload.send([chosen ?? []].flat())}
      inputProps={{ 'aria-label': upload.multiple ? 'Image files' : 'Image file' }}
    >
      {(props) => (
        <Button
          variant={variant}
          leftSection={<IconUpload size={16} aria-hidden />}
          loading={upload.sending}
          {...props}
        >
          {upload.multiple ? 'Upload images' : 'Upload image'}
        </Button>
      )}
    </FileButton>
  )
}

/** Accepts files that are dropped on its content, and shows why some were rejected. */
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
      {upload.problems.length > 0 && (
        <Box mb="sm">
          <ErrorLine>
            {upload.problems.map((problem) => (
              <div key={problem}>{problem}</div>
            ))}
          </ErrorLine>
        </Box>
      )}
      {children}
    </Box>
  )
}
