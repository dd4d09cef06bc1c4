import type { BroadcastDetail, Engagement, RecipientStatus } from '../api/types.ts'
import { count } from '../ui/numbers.ts'
import { type RecipientFilter, sentOf, type VariantKey } from './broadcasts.api.ts'

// The choices of recipients to list. Each is one number of the results, and has one name everywhere.

export type People = Engagement | `status:${RecipientStatus}`

type Choice = { value: People; label: string; number: (broadcast: BroadcastDetail) => number }

const reached: Choice[] = [
  { value: 'sent', label: 'Sent', number: sentOf },
  { value: 'delivered', label: 'Delivered', number: ({ counts }) => counts.sent },
  { value: 'opened', label: 'Opened', number: ({ results }) => results.opened },
  { value: 'clicked', label: 'Clicked', number: ({ results }) => results.clicked },
  { value: 'not_opened', label: 'Not opened', number: ({ results }) => results.not_opened },
  { value: 'bounced', label: 'Bounced', number: ({ counts }) => counts.bounced },
  { value: 'complained', label: 'Complaints', number: ({ results }) => results.complained },
  { value: 'unsubscribed', label: 'Unsubscribed', number: ({ results }) => results.unsubscribed },
]
export const withoutEmail: Choice[] = [
  { value: 'status:pending', label: 'Pending', number: ({ counts }) => counts.pending },
  { value: 'status:queued', label: 'Queued', number: ({ counts }) => counts.queued },
  { value: 'status:failed', label: 'Failed', number: ({ counts }) => counts.failed },
  { value: 'status:suppressed', label: 'Suppressed', number: ({ counts }) => counts.suppressed },
  {
    value: 'status:unsubscribed',
    label: 'Unsubscribed before sending',
    number: ({ counts }) => counts.unsubscribed,
  },
  { value: 'status:cancelled', label: 'Cancelled', number: ({ counts }) => counts.cancelled },
]

export const steps = reached.slice(0, 5)
export const losses = [...reached.slice(5), ...withoutEmail.slice(2)]

export function peopleOptions(broadcast: BroadcastDetail) {
  const items = (choices: Choice[]) =>
    choices.map(({ value, label, number }) => ({ value, label: `${label} (${count(number(broadcast))})` }))
  return [
    { group: 'Sent', items: items(reached) },
    { group: 'Not sent', items: items(withoutEmail) },
  ]
}

type Chosen = Record<'people' | 'link' | 'variant', string>

export function filterOf({ people, link, variant }: Chosen): RecipientFilter {
  const [, status] = people.split('status:')
  const all = { status: '', engagement: '', link: '', variant: variant as VariantKey | '' } as const
  if (status !== undefined) return { ...all, status: status as RecipientStatus }
  return { ...all, engagement: people as Engagement | '', link: people === 'clicked' ? link : '' }
}

export const recipientsAnchor = 'recipients'

/** The place of the list of these recipients, on the page of the broadcast. */
export const peopleAt = (people: People, narrower: { link?: string; variant?: VariantKey } = {}) => ({
  search: `?${new URLSearchParams({ people, ...narrower })}`,
  hash: `#${recipientsAnchor}`,
})
