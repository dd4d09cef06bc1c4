import { Text, TextInput } from '@mantine/core'
import type { Domain } from '../../api/types.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { DialogForm, useRequestForm } from '../../ui/form.tsx'
import { toast } from '../../ui/toast.tsx'
import { changeHosts } from './domains.api.ts'

const fields = [
  { name: 'tracking_label', purpose: 'tracking', label: 'Link host' },
  { name: 'return_path_label', purpose: 'return_path', label: 'Return path' },
] as const

/** The labels whose records are asked for. */
export const labelFields = ({ records }: Domain) =>
  fields.filter(({ purpose }) => records.some((record) => record.purpose === purpose))

type Props = { domain: Domain; onSaved: (changed: Domain) => void; onClose: () => void }

export function HostsDialog({ domain, onSaved, onClose }: Props) {
  const shown = labelFields(domain)
  const form = useRequestForm({
    initialValues: { tracking_label: domain.tracking_label, return_path_label: domain.return_path_label },
    send: (values) => changeHosts(domain.id, Object.fromEntries(shown.map(({ name }) => [name, values[name].trim()]))),
    onSuccess: (changed) => {
      onSaved(changed)
      onClose()
      toast('Hosts changed. Publish the new records.')
    },
  })
  return (
    <Dialog opened onClose={onClose} title="Change hosts">
      <DialogForm form={form} action="Save" onCancel={onClose}>
        <Text size="sm">
          Emails carry a new host once its record is found. Links in emails that were sent keep the old one, and no new
          certificates are requested for it.
        </Text>
        {shown.map(({ name, label }) => (
          <TextInput
            key={name}
            label={label}
            description={`${form.values[name].trim() || '…'}.${domain.name}`}
            required
            maxLength={63}
            {...form.field(name)}
          />
        ))}
      </DialogForm>
    </Dialog>
  )
}
