import { useQueryClient } from '@tanstack/react-query'
import { useMay } from '../accounts/session/session.api.ts'
import { keys, useInvalidate } from '../api/keys.ts'
import type { BroadcastDetail } from '../api/types.ts'
import { ConfirmButton } from '../ui/confirm.tsx'
import { type Column, DataTable } from '../ui/data-table.tsx'
import { count } from '../ui/numbers.ts'
import { Rate } from '../ui/rate.tsx'
import { Section } from '../ui/section.tsx'
import { StatusBadge } from '../ui/status-badge.tsx'
import { toast } from '../ui/toast.tsx'
import { broadcastQuery, chooseVariant } from './broadcasts.api.ts'
import { Chance } from './chance.tsx'
import { peopleAt } from './people.ts'
import { ZonedTime } from './zoned-time.tsx'

type Variant = BroadcastDetail['variants'][number]

const contentOf = ({ subject, flow_version: version }: Variant) =>
  subject ?? (version === null ? 'The flow as it is' : `Version ${version} of the flow`)

/** Leads to the people in the sample. */
const rateColumn = (header: string, people: 'sent' | 'opened' | 'clicked' | 'unsubscribed'): Column<Variant> => ({
  header,
  align: 'right',
  cell: (variant) => (
    <Rate
      value={variant[people]}
      sent={people === 'sent' ? variant.recipients : variant.sent}
      to={peopleAt(people, { variant: variant.key })}
      label={`${header} of variant ${variant.key}: ${count(variant[people])}`}
    />
  ),
})

/** Compares the variants of an A/B test, and chooses the winner. */
export function Variants({ broadcast }: { broadcast: BroadcastDetail }) {
  const may = useMay()
  const queries = useQueryClient()
  const invalidate = useInvalidate()
  const { id, status, winner, test_percent: percent, counts } = broadcast
  const isOpen = percent < 100 && winner === null && (status === 'sending' || status === 'paused') && counts.pending > 0
  const canChoose = isOpen && may('broadcasts:send')
  const choose = async ({ key }: Variant) => {
    await chooseVariant(id, key)
    toast(`Variant ${key} is sent to the others.`)
    await queries.invalidateQueries({ queryKey: broadcastQuery(id).queryKey })
    await invalidate(keys.broadcastLists)
  }
  const columns: Column<Variant>[] = [
    {
      header: 'Variant',
      phone: 'title',
      minWidth: '220px',
      cell: (variant) => (
        <span className="break">
          <strong>{variant.key}</strong> {contentOf(variant)}{' '}
          {variant.winner && <StatusBadge tone="good">Winner</StatusBadge>}
        </span>
      ),
    },
    rateColumn('Sent', 'sent'),
    rateColumn('Opened', 'opened'),
    rateColumn('Clicked', 'clicked'),
    rateColumn('Unsubscribed', 'unsubscribed'),
    ...(canChoose ? [chooseColumn(choose)] : []),
  ]
  return (
    <Section title="Variants" description={<Explanation broadcast={broadcast} isOpen={isOpen} />}>
      <DataTable label="Variants" columns={columns} rows={broadcast.variants} rowKey={({ key }) => key} />
      <Chance broadcast={broadcast} />
    </Section>
  )
}

const chooseColumn = (choose: (variant: Variant) => Promise<void>): Column<Variant> => ({
  header: 'Choose',
  align: 'right',
  phone: 'bare',
  cell: (variant) => (
    <ConfirmButton
      size="compact-sm"
      confirm={{
        title: `Send variant ${variant.key} to the others?`,
        action: 'Send to the others',
        children: (
          <>
            The recipients outside the sample get <strong>{contentOf(variant)}</strong>. This can’t be undone.
          </>
        ),
        run: () => choose(variant),
      }}
    >
      {`Choose variant ${variant.key}`}
    </ConfirmButton>
  ),
})

function Explanation({ broadcast, isOpen }: { broadcast: BroadcastDetail; isOpen: boolean }) {
  const { test_percent: percent, winner, winner_by: by, decides_at: at } = broadcast
  if (percent === 100) return 'Each recipient got one of the variants.'
  const sample = `Results of the sample, ${percent}% of the recipients.`
  const isOver = ['sent', 'cancelled', 'expired'].includes(broadcast.status)
  if (winner !== null) return `${sample} The others ${isOver ? 'got' : 'get'} variant ${winner}.`
  if (!isOpen) return sample
  if (by === 'manual') return `${sample} The others wait until you choose a variant.`
  const rule = by === 'opens' ? 'open rate' : 'click rate'
  if (at === null) return `${sample} It is being sent; the others get the variant with the highest ${rule}.`
  return (
    <>
      {sample} The others get the variant with the highest {rule}, which is picked on <ZonedTime at={at} />.
    </>
  )
}
