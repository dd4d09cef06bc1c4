import { Button, Checkbox, Collapse, NumberInput, SimpleGrid, Stack, TextInput } from '@mantine/core'
import { IconChevronDown, IconChevronRight } from '@tabler/icons-react'
import { useState } from 'react'
import { useMay } from '../../accounts/session/session.api.ts'
import type { FormFields } from './form-fields.ts'

/** What most people leave as it is. */
export function LimitFields({ form }: { form: FormFields }) {
  const [shown, setShown] = useState(false)
  const may = useMay()
  return (
    <div>
      <Button
        variant="subtle"
        px={4}
        aria-expanded={shown}
        leftSection={shown ? <IconChevronDown size={16} aria-hidden /> : <IconChevronRight size={16} aria-hidden />}
        onClick={() => setShown(!shown)}
      >
        Order and limits
      </Button>
      <Collapse expanded={shown}>
        <Stack gap="sm" mt="xs">
          <TextInput
            label="Only from these domains"
            description="Separated by commas. Leave empty for all domains."
            placeholder="example.com"
            {...form.field('from_domains')}
          />
          <SimpleGrid cols={{ base: 1, xs: 2 }}>
            <NumberInput
              label="Priority"
              description="Lower is tried first"
              min={0}
              max={1_000}
              {...form.field('priority')}
            />
            <NumberInput
              label="Weight"
              description="Share among the same priority"
              min={1}
              max={1_000}
              {...form.field('weight')}
            />
            <NumberInput
              label="Emails per second"
              description="Empty for no limit"
              min={0.01}
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
            <NumberInput
              label="Connections"
              description="Divided between the processes of the service. Each uses at least one."
              min={1}
              max={50}
              allowDecimal={false}
              {...form.field('connections')}
            />
          </SimpleGrid>
          <Checkbox
            label="Apply the limits per mailbox provider"
            description="For a mail server that delivers to the receivers itself, such as Postfix"
            {...form.field('shape_by_receiver', { type: 'checkbox' })}
          />
          {may('installation:write') && (
            <Checkbox
              label="Share with all organizations"
              description="Also carries invitations, password resets and alerts of all organizations, and email for which they have no mail server"
              {...form.field('is_shared', { type: 'checkbox' })}
            />
          )}
        </Stack>
      </Collapse>
    </div>
  )
}
