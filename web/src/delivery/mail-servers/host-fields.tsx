import { NumberInput, Select, SimpleGrid, TextInput } from '@mantine/core'
import type { MailServerPreset } from '../../api/types.ts'
import type { FormFields } from './form-fields.ts'

const securities = [
  { value: 'starttls', label: 'STARTTLS' },
  { value: 'tls', label: 'TLS from the start' },
  { value: 'opportunistic', label: 'STARTTLS if offered' },
  { value: 'none', label: 'None' },
]

/** Only what the provider leaves open. */
export function HostFields({ form, preset }: { form: FormFields; preset: MailServerPreset | undefined }) {
  if (!preset)
    return (
      <>
        <TextInput label="Host" placeholder="smtp.example.com" required maxLength={255} {...form.field('host')} />
        <SimpleGrid cols={2}>
          <NumberInput label="Port" min={1} max={65_535} hideControls required {...form.field('port')} />
          <Select label="Encryption" allowDeselect={false} data={securities} {...form.field('security')} />
        </SimpleGrid>
      </>
    )
  if (preset.hosts.length === 1) return null
  const known = preset.hosts.map(({ host, label }) => ({ value: host, label }))
  const { host } = form.values
  const choose = (value: string | null) => {
    const kinds = preset.hosts.find((each) => each.host === value)?.kinds
    form.set({ host: value ?? '', ...(kinds && { kinds }) })
  }
  return (
    <Select
      label={preset.hosts_title}
      description={host}
      searchable
      allowDeselect={false}
      // One that was set through the API stays.
      data={known.some(({ value }) => value === host) ? known : [...known, { value: host, label: host }]}
      {...form.field('host')}
      onChange={choose}
    />
  )
}
