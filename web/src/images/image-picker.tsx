import { Group, Stack } from '@mantine/core'
import { IconPhoto } from '@tabler/icons-react'
import { useState } from 'react'
import type { Image } from '../api/types.ts'
import { Dialog } from '../ui/dialog.tsx'
import { ListFrame } from '../ui/list.tsx'
import { SearchField } from '../ui/search-field.tsx'
import { ImageGrid } from './image-grid.tsx'
import { useImages } from './images.api.ts'
import { DropImages, UploadButton, useUpload } from './upload-images.tsx'

type Props = { onClose: () => void; onChoose: (image: Image) => void }

/** A dialog to choose an image of the gallery, or to upload a new one. */
export function ImagePicker({ onClose, onChoose }: Props) {
  const [query, setQuery] = useState('')
  const images = useImages(query)
  const upload = useUpload(onChoose)
  return (
    <Dialog opened onClose={onClose} title="Choose an image" size="xl">
      <DropImages upload={upload}>
        <Stack gap="md">
          <Group justify="space-between" gap="xs">
            <SearchField label="Search images" value={query} onChange={setQuery} />
            <UploadButton upload={upload} variant="default" />
          </Group>
          <ListFrame
            query={images}
            empty={{ title: 'No images yet', icon: IconPhoto, children: 'Upload a PNG, JPEG, GIF or WebP image.' }}
            notFound={query !== '' && { title: 'No images found', children: 'Try another search.' }}
          >
            {(rows) => <ImageGrid images={rows} onChoose={onChoose} />}
          </ListFrame>
        </Stack>
      </DropImages>
    </Dialog>
  )
}
