import type { EventName, Overview } from '../../api/types.ts'

type Totals = Overview['totals']
export type Day = Overview['series'][number]
type Part = { key: string; label: string; color: string; of: (counts: Totals) => number }

/** One statistic of the overview: its number, its rate, and the parts of its bars. */
export type Measure = {
  key: string
  label: string
  meaning: string
  /** Describes the bars if they count something else than the number. */
  bars?: string
  value: (totals: Totals) => number
  /** Whether it is also shown as a share of the emails sent. */
  rated: boolean
  /** Decides the colour of a change. */
  moreIsBetter: boolean
  parts: Part[]
}

// Blue and vermilion from the palette of Okabe and Ito, and slate. They also differ in lightness, in both themes.
export const blue = 'light-dark(#0a6aa8, #5eb1e8)'
const slate = 'light-dark(#a3b1c2, #66758a)'
export const vermilion = 'light-dark(#c2500a, #f0853f)'

/** What rates are shares of. */
export const sentOf = ({ sent }: Pick<Totals, 'sent'>) => sent

const humanCount = (name: EventName) => (counts: Totals) => counts[name].total - counts[name].machine
const automatedCount = (name: EventName) => (counts: Totals) => counts[name].machine
/** The number of emails with at least one such event. */
const uniqueCount = (name: EventName) => (counts: Totals) => counts[name].unique

const bySource = (name: EventName): Part[] => [
  { key: 'human', label: 'People', color: blue, of: humanCount(name) },
  { key: 'automated', label: 'Automated', color: slate, of: automatedCount(name) },
]

export const measures: Measure[] = [
  {
    key: 'sent',
    label: 'Sent',
    meaning: 'Emails that were delivered or bounced, including those your mail server rejected at once.',
    value: sentOf,
    rated: false,
    moreIsBetter: true,
    parts: [{ key: 'sent', label: 'Sent', color: blue, of: sentOf }],
  },
  {
    key: 'opened',
    label: 'Opened',
    meaning:
      'Emails a person opened at least once. Automated opens, by scanners and privacy proxies, are counted separately.',
    bars: 'All opens, by people and automated. The number above counts emails a person opened at least once.',
    value: uniqueCount('emailOpen'),
    rated: true,
    moreIsBetter: true,
    parts: bySource('emailOpen'),
  },
  {
    key: 'clicked',
    label: 'Clicked',
    meaning: 'Emails in which a person clicked at least one link.',
    bars: 'All clicks, by people and automated. The number above counts emails in which a person clicked.',
    value: uniqueCount('emailClick'),
    rated: true,
    moreIsBetter: true,
    parts: bySource('emailClick'),
  },
  {
    key: 'bounced',
    label: 'Bounced',
    meaning: 'Emails that could not be delivered. Each counts once, on the day on which it was sent.',
    value: ({ bounced }) => bounced,
    rated: true,
    moreIsBetter: false,
    parts: [{ key: 'bounced', label: 'Bounced', color: vermilion, of: ({ bounced }) => bounced }],
  },
  {
    key: 'complaints',
    label: 'Complaints',
    meaning: 'Emails reported as spam.',
    value: uniqueCount('emailComplaint'),
    rated: true,
    moreIsBetter: false,
    parts: [{ key: 'complaints', label: 'Complaints', color: vermilion, of: uniqueCount('emailComplaint') }],
  },
  {
    key: 'unsubscribed',
    label: 'Unsubscribed',
    meaning: 'Unsubscribes through an email, in the app or through the API.',
    value: uniqueCount('contactUnsubscribe'),
    rated: true,
    moreIsBetter: false,
    parts: [{ key: 'unsubscribed', label: 'Unsubscribed', color: vermilion, of: uniqueCount('contactUnsubscribe') }],
  },
]
