import { Button, Group, Text, TextInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { changeBaseUrl, setupQuery } from '../../accounts/settings/settings.api.ts'
import { baseUrl as openedAt } from '../../api/base.ts'
import type { SendingSetup } from '../../api/types.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { DialogForm, useRequestForm } from '../../ui/form.tsx'
import { toast } from '../../ui/toast.tsx'

type Props = { address: SendingSetup['base_url']; onClose: () => void }

/** The address at which this page was opened is likely the one that others can open as well. */
export function BaseUrlDialog({ address, onClose }: Props) {
  const queries = useQueryClient()
  const form = useRequestForm({
    initialValues: { base_url: address.source === 'app' ? address.url : isLocal(openedAt) ? '' : openedAt },
    send: ({ base_url: url }) => changeBaseUrl(url.trim() || null),
    onSuccess: (setup) => {
      queries.setQueryData(setupQuery.queryKey, setup)
      toast('New emails use this address.')
      onClose()
    },
  })
  return (
    <Dialog opened onClose={onClose} title="Public address">
      <DialogForm form={form} action="Save" onCancel={onClose}>
        <Text>
          Links, images and unsubscribe pages of emails are opened at this address, by everybody who receives an email.
          It applies to the whole installation.
        </Text>
        <TextInput
          label="Address"
          type="url"
          placeholder="https://mail.example.com"
          maxLength={300}
          data-autofocus
          {...form.field('base_url')}
        />
        {form.values.base_url.trim() !== openedAt && !isLocal(openedAt) && (
          <Group>
            <Button size="xs" variant="default" onClick={() => form.set({ base_url: openedAt })}>
              Use {openedAt}
            </Button>
          </Group>
        )}
      </DialogForm>
    </Dialog>
  )
}

const isLocal = (url: string) => /^(localhost|.*\.localhost|127\..*|\[::1\])$/.test(new URL(url).hostname)
