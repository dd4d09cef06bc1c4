import { Group, Stack, TextInput } from '@mantine/core'
import { IconPhoto } from '@tabler/icons-react'
import { useState } from 'react'
import { keys, useInvalidate } from '../../api/keys.ts'
import type { Image } from '../../api/types.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { DialogForm, useRequestForm } from '../../ui/form.tsx'
import { ListFrame } from '../../ui/list.tsx'
import { SearchField } from '../../ui/search-field.tsx'
import { ImageGrid, Picture } from './image-grid.tsx'
import { altTextMax, changeImage, useImages } from './images.api.ts'
import { DropImages, UploadButton, useUpload } from './upload-images.tsx'

type Props = { onClose: () => void; onChoose: (image: Image) => void }

/**
 * A dialog to choose an image of the gallery, or to upload a new one. `describes`: the description of a new one is asked
 * for, because it is inserted with the image.
 */
export function ImagePicker({ describes = false, onClose, onChoose }: Props & { describes?: boolean }) {
  const [uploaded, setUploaded] = useState<Image>()
  return (
    <Dialog opened onClose={onClose} title={uploaded ? 'Describe the image' : 'Choose an image'} size="xl">
      {uploaded ? (
        <Description image={uploaded} onClose={onClose} onChoose={onChoose} />
      ) : (
        <Choice onChoose={onChoose} onUploaded={describes ? setUploaded : onChoose} />
      )}
    </Dialog>
  )
}

type ChoiceProps = Pick<Props, 'onChoose'> & { onUploaded: (image: Image) => void }

function Choice({ onChoose, onUploaded }: ChoiceProps) {
  const [query, setQuery] = useState('')
  const images = useImages(query)
  const upload = useUpload(onUploaded)
  return (
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
  )
}

function Description({ image, onClose, onChoose }: Props & { image: Image }) {
  const invalidate = useInvalidate()
  const form = useRequestForm({
    initialValues: { alt_text: '' },
    send: async (values) => (values.alt_text.trim() === '' ? image : changeImage(image.id, values)),
    onSuccess: () => invalidate(keys.images),
    onSaved: onChoose,
  })
  return (
    <Stack gap="sm">
      <Picture image={image} large />
      <DialogForm form={form} action="Insert image" onCancel={onClose}>
        <TextInput
          label="Description for people who can’t see the image"
          description="Read aloud, and shown if the image is blocked."
          maxLength={altTextMax}
          autoFocus
          {...form.field('alt_text')}
        />
      </DialogForm>
    </Stack>
  )
}
