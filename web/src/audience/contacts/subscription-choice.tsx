import { Radio, Stack } from '@mantine/core'
import type { ContactImport } from '../../api/types.ts'

export type Subscription = ContactImport['subscription']
type Props = { label: string; value: Subscription; onChange: (value: Subscription) => void }

/** Asks whether new contacts are subscribed, which requires their consent. */
export const SubscriptionChoice = ({ label, value, onChange }: Props) => (
  <Radio.Group label={label} value={value} onChange={(chosen) => onChange(chosen as Subscription)}>
    <Stack gap="xs" mt="xs">
      <Radio
        value="subscribed"
        label="Subscribed"
        description="Receives marketing and transactional email. Only for people who opted in."
      />
      <Radio value="not_subscribed" label="Not subscribed" description="Receives transactional email only." />
    </Stack>
  </Radio.Group>
)
