import { NumberInput, TextInput } from '@mantine/core'
import { keys, useInvalidate } from '../../api/keys.ts'
import type { ReceivingSite } from '../../api/types.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { DialogForm, useRequestForm } from '../../ui/form.tsx'
import { toast } from '../../ui/toast.tsx'
import { changeReceivingSite } from './receiving-sites.api.ts'

const numberOf = (value: number | string): number | null => (value === '' ? null : Number(value))

/** Sets the limits of a site. Without one, the domain is entered as well. */
export function SiteDialog({ site, onClose }: { site: ReceivingSite | undefined; onClose: () => void }) {
  const invalidate = useInvalidate()
  const form = useRequestForm({
    initialValues: {
      site: site?.site ?? '',
      messages_per_second: (site?.messages_per_second ?? '') as number | string,
      messages_per_day: (site?.messages_per_day ?? '') as number | string,
    },
    validate: (values) => ({ site: values.site.trim() === '' ? 'Domain is required.' : undefined }),
    send: (values) =>
      changeReceivingSite(values.site.trim(), {
        messages_per_second: numberOf(values.messages_per_second),
        messages_per_day: numberOf(values.messages_per_day),
      }),
    onSuccess: async () => {
      await invalidate(keys.receivingSites)
      onClose()
      toast('Limits saved.')
    },
  })
  return (
    <Dialog opened onClose={onClose} title={site ? `Limits of ${site.name}` : 'Add limit'}>
      <DialogForm form={form} action="Save" onCancel={onClose}>
        {!site && (
          <TextInput
            label="Domain"
            description="Of the recipients, or the registered domain of their mail server (MX)"
            placeholder="example.com"
            required
            {...form.field('site')}
          />
        )}
        <NumberInput
          label="Emails per second"
          description="Empty for no limit"
          min={0.001}
          max={10_000}
          {...form.field('messages_per_second')}
        />
        <NumberInput
          label="Emails per day"
          description="Empty for no limit"
          min={1}
          allowDecimal={false}
          thousandSeparator=","
          {...form.field('messages_per_day')}
        />
      </DialogForm>
    </Dialog>
  )
}
