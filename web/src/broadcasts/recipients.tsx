import { Anchor } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import { Link, useLocation } from 'react-router'
import type { BroadcastDetail, BroadcastRecipient } from '../api/types.ts'
import { paths } from '../paths.ts'
import type { Column } from '../ui/data-table.tsx'
import { describe } from '../ui/descriptions.ts'
import { emailText } from '../ui/email-text.ts'
import { ExportButton } from '../ui/export-button.tsx'
import { FilterSelect } from '../ui/filters.tsx'
import { TableList } from '../ui/list.tsx'
import { RowLink } from '../ui/row-link.tsx'
import { Section } from '../ui/section.tsx'
import { Time } from '../ui/time.tsx'
import { useFilters } from '../ui/use-filters.ts'
import { RecipientBadge } from './broadcast-status.tsx'
import { exportRecipients, linksQuery, useRecipients, type VariantKey } from './broadcasts.api.ts'
import { isActive } from './pace.ts'
import { filterOf, peopleOptions, recipientsAnchor } from './people.ts'

// An empty cell takes no space on a phone.
const columns: Column<BroadcastRecipient>[] = [
  {
    header: 'Contact',
    phone: 'title',
    minWidth: '220px',
    cell: ({ contact_id: id, email }) =>
      email === null ? 'Erased contact' : <RowLink to={paths.contact(id)}>{emailText(email)}</RowLink>,
  },
  { header: 'Status', cell: ({ status, engagement }) => <RecipientBadge {...{ status, engagement }} /> },
  { header: 'First opened', cell: ({ first_opened_at: at }) => at && <Time at={at} /> },
  { header: 'First clicked', cell: ({ first_clicked_at: at }) => at && <Time at={at} /> },
  {
    header: 'Links',
    minWidth: '160px',
    cell: ({ links }) =>
      links.length > 0 && (
        <div>
          {links.map((link) => (
            <div key={link} className="break">
              {link}
            </div>
          ))}
        </div>
      ),
  },
  { header: 'Reason', cell: ({ reason }) => reason && <span className="break">{describe(reason)}</span> },
  {
    header: 'Message',
    align: 'right',
    cell: ({ message_id: id }) =>
      id && (
        <Anchor component={Link} to={paths.message(id)}>
          View
        </Anchor>
      ),
  },
]

/** Recipients outside the sample get the winner, once it is chosen. */
function columnsOf({ variants, winner }: BroadcastDetail): Column<BroadcastRecipient>[] {
  if (variants.length === 0) return columns
  const [contact, ...others] = columns as [Column<BroadcastRecipient>, ...Column<BroadcastRecipient>[]]
  return [contact, { header: 'Variant', cell: ({ variant }) => variant ?? winner ?? 'Not chosen yet' }, ...others]
}

export function Recipients({ broadcast }: { broadcast: BroadcastDetail }) {
  const { filter, field, filtered } = useFilters('people', 'link', 'variant')
  const wanted = filterOf(filter)
  const recipients = useRecipients(broadcast.id, wanted, isActive(broadcast))
  const { hash, key } = useLocation()
  const place = useRef<HTMLDivElement>(null)
  // A number of the results was selected: its people come into view and get the focus.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the same number can be selected again
  useEffect(() => {
    if (hash === `#${recipientsAnchor}`) place.current?.focus()
  }, [hash, key])
  return (
    <div ref={place} id={recipientsAnchor} tabIndex={-1} style={{ outline: 'none' }}>
      <Section
        title="Recipients"
        description={`The audience at the start, without ${broadcast.service_announcement ? '' : 'unsubscribed and '}suppressed contacts.`}
        actions={
          <ExportButton
            size="xs"
            run={() => exportRecipients(broadcast.id, wanted, `${fileName(broadcast.name)}.csv`)}
          />
        }
      >
        <TableList
          label="Recipients"
          query={recipients}
          columns={columnsOf(broadcast)}
          rowKey={({ contact_id }) => contact_id}
          filters={
            <>
              <FilterSelect
                label="Show"
                placeholder="All recipients"
                data={peopleOptions(broadcast)}
                {...field('people')}
              />
              {filter.people === 'clicked' && <LinkSelect broadcast={broadcast} {...field('link')} />}
              {broadcast.variants.length > 0 && (
                <FilterSelect
                  label="Variant"
                  placeholder="Any variant"
                  data={broadcast.variants.map(({ key }) => ({ value: key, label: variantText(broadcast, key) }))}
                  {...field('variant')}
                />
              )}
            </>
          }
          empty={{ title: 'No recipients' }}
          notFound={filtered && { title: 'No recipients', children: 'Choose another filter.' }}
        />
      </Section>
    </div>
  )
}

/** The winner also goes to recipients outside the sample, but the figures of a variant are those of the sample. */
const variantText = ({ test_percent: percent }: BroadcastDetail, key: VariantKey) =>
  percent === 100 ? `Variant ${key}` : `Variant ${key} (sample)`

type LinkSelectProps = { broadcast: BroadcastDetail; value: string; onChange: (link: string | null) => void }

function LinkSelect({ broadcast, value, onChange }: LinkSelectProps) {
  const links = useQuery(linksQuery(broadcast.id))
  const urls = links.data?.map(({ url }) => url) ?? []
  return (
    <FilterSelect
      label="Link"
      placeholder="Any link"
      searchable
      data={value === '' || urls.includes(value) ? urls : [value, ...urls]}
      nothingFoundMessage="No such link was clicked"
      value={value}
      onChange={onChange}
    />
  )
}

const fileName = (name: string) => name.replaceAll(/[^\p{L}\p{N}]+/gu, '-').replaceAll(/^-|-$/g, '') || 'broadcast'
