import { Anchor, Text } from '@mantine/core'
import { Link, type To } from 'react-router'
import { count, share } from './numbers.ts'

type Props = { value: number; sent: number } & (
  | { to: To; label: string }
  /** Without a place, the number does not lead anywhere. */
  | { to?: never; label?: never }
)

/** How many emails of those sent, with their share: “37 12.3%”. The number leads to their people. */
export function Rate({ value, sent, to, label }: Props) {
  return (
    <span className="number">
      {to === undefined ? (
        count(value)
      ) : (
        <Anchor component={Link} to={to} inherit underline="always" aria-label={label}>
          {count(value)}
        </Anchor>
      )}{' '}
      <Text span size="sm" c="dimmed">
        {share(value, sent)}
      </Text>
    </span>
  )
}
