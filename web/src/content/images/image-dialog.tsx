import { Anchor, Group, Stack, Text, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from 'react-router'
import { keys, useInvalidate } from '../../api/keys.ts'
import type { Image } from '../../api/types.ts'
import { paths } from '../../paths.ts'
import { ConfirmButton } from '../../ui/confirm.tsx'
import { Copyable } from '../../ui/copy.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { DialogForm, useRequestForm } from '../../ui/form.tsx'
import { toast } from '../../ui/toast.tsx'
import { Picture, sizeOf } from './image-grid.tsx'
import { altTextMax, changeImage, deleteImage, imageQuery } from './images.api.ts'

/** Shows an image with its address and the flows that use it, and changes its texts. */
export function ImageDialog({ image, onClose }: { image: Image; onClose: () => void }) {
  const invalidate = useInvalidate()
  const flows = useQuery(imageQuery(image.id)).data?.flows
  const form = useRequestForm({
    initialValues: { name: image.name, alt_text: image.alt_text },
    send: (values) => changeImage(image.id, values),
    onSuccess: () => invalidate(keys.images),
    onSaved: onClose,
  })
  const remove = async () => {
    await deleteImage(image.id)
    await invalidate(keys.images)
    toast('Image deleted.')
    onClose()
  }
  return (
    <Dialog opened onClose={onClose} title={image.name} size="lg">
      <Stack gap="sm">
        <Picture image={image} large />
        <Text size="xs" c="dimmed">
          {sizeOf(image)}
        </Text>
        <Copyable value={image.url} label="Copy address" />
        <Group justify="space-between" gap="xs">
          <FlowList flows={flows} />
          <ConfirmButton
            size="xs"
            confirm={{
              title: 'Delete image?',
              children: deletionText(flows?.length ?? 0),
              action: 'Delete image',
              run: remove,
            }}
          >
            Delete image
          </ConfirmButton>
        </Group>
        <DialogForm form={form} action="Save" onCancel={onClose}>
          <TextInput label="Name" required maxLength={200} {...form.field('name')} />
          <TextInput
            label="Description for people who can’t see the image"
            description="Inserted with the image."
            maxLength={altTextMax}
            {...form.field('alt_text')}
          />
        </DialogForm>
      </Stack>
    </Dialog>
  )
}

/** Opens flows in a new tab, which keeps what was typed into the form. */
function FlowList({ flows }: { flows: { id: string; name: string }[] | undefined }) {
  if (!flows) return null
  if (flows.length === 0) return <Text size="sm">Not used in any flow.</Text>
  return (
    <Group gap={6}>
      <Text size="sm">Used in:</Text>
      {flows.map(({ id, name }) => (
        <Anchor key={id} size="sm" component={Link} to={paths.flowTab(id, 'edit')} target="_blank">
          {name}
        </Anchor>
      ))}
    </Group>
  )
}

/** The list of flows ends here. */
const flowsMax = 20

function deletionText(flows: number): string {
  if (flows === 0) return 'Emails already sent with this image will no longer show it.'
  const [users, their] =
    flows === 1 ? ['One flow uses', 'Its'] : [`${flows < flowsMax ? flows : `${flowsMax} or more`} flows use`, 'Their']
  return `${users} this image. ${their} emails, including those already sent, will no longer show it.`
}
