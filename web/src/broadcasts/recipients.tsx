import { Anchor, Pill } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import { Link, useLocation } from 'react-router'
import { keys } from '../api/keys.ts'
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
import { exportRecipients, isActive, useRecipients } from './broadcasts.api.ts'
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
  { header: 'Status', cell: ({ status }) => <RecipientBadge status={status} /> },
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
  const { filter, set, field } = useFilters('people', 'link')
  const wanted = filterOf(filter.people, filter.link)
  const wantedText = JSON.stringify(wanted)
  const active = isActive(broadcast)
  const recipients = useRecipients(broadcast.id, wanted, active)
  const queries = useQueryClient()
  // The list is not polled when the broadcast has ended, so it is fetched a last time then.
  useEffect(() => {
    if (!active) return
    const queryKey = keys.broadcastRecipients(broadcast.id, JSON.parse(wantedText) as object)
    return () => void queries.invalidateQueries({ queryKey })
  }, [active, queries, broadcast.id, wantedText])
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
        description={`The audience at the start, without contacts that were ${broadcast.service_announcement ? '' : 'unsubscribed or '}suppressed then. Automated opens and clicks don’t count as opened or clicked; not opened means neither opened nor clicked.`}
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
              {wanted.link && (
                <Pill withRemoveButton onRemove={() => set('link', null)} className="break">
                  {wanted.link}
                </Pill>
              )}
            </>
          }
          empty={{ title: 'No recipients' }}
          notFound={filter.people !== '' && { title: 'No recipients', children: 'Choose another filter.' }}
        />
      </Section>
    </div>
  )
}

const fileName = (name: string) => name.replaceAll(/[^\p{L}\p{N}]+/gu, '-').replaceAll(/^-|-$/g, '') || 'broadcast'
