import type { EventName, Overview } from '../api/types.ts'

/** Only results of flows count emails by the day on which they left. */
type Emails = { sent?: number; delivered?: number; bounced?: number }
type Totals = Overview['totals'] & Emails
export type Day = Overview['series'][number] & Emails
type Part = { key: string; label: string; color: string; of: (counts: Record<EventName, Count> & Emails) => number }
type Count = { total: number; unique: number; machine: number }

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

// Blue, vermilion and sky from the palette of Okabe and Ito, and slate. They also differ in lightness, in both themes.
export const blue = 'light-dark(#0a6aa8, #5eb1e8)'
const slate = 'light-dark(#a3b1c2, #66758a)'
export const vermilion = 'light-dark(#c2500a, #f0853f)'
const sky = 'light-dark(#7cc0ea, #a5d6f5)'

/** What rates are shares of. */
export const sentOf = ({ sent, emailSent }: { emailSent: Count } & Emails) => sent ?? emailSent.unique

const humanCount = (name: EventName) => (counts: Record<EventName, Count>) => counts[name].total - counts[name].machine
const automatedCount = (name: EventName) => (counts: Record<EventName, Count>) => counts[name].machine
/** The number of emails with at least one such event. */
const uniqueCount = (name: EventName) => (counts: Record<EventName, Count>) => counts[name].unique

const bySource = (name: EventName): Part[] => [
  { key: 'human', label: 'People', color: blue, of: humanCount(name) },
  { key: 'automated', label: 'Automated', color: slate, of: automatedCount(name) },
]

export const measures: Measure[] = [
  {
    key: 'sent',
    label: 'Sent',
    meaning: 'Emails your mail server accepted. Those it rejects count only as bounced.',
    value: uniqueCount('emailSent'),
    rated: false,
    moreIsBetter: true,
    parts: [{ key: 'sent', label: 'Sent', color: blue, of: uniqueCount('emailSent') }],
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
    meaning: 'Bounces of the period: permanent (hard) or temporary (soft). The email may have been sent before.',
    value: (totals) => totals.emailHardBounce.unique + totals.emailSoftBounce.unique,
    rated: true,
    moreIsBetter: false,
    parts: [
      { key: 'hard', label: 'Hard', color: vermilion, of: uniqueCount('emailHardBounce') },
      { key: 'soft', label: 'Soft', color: sky, of: uniqueCount('emailSoftBounce') },
    ],
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
