import type { EventName, Overview } from '../api/types.ts'

type Totals = Overview['totals']
export type Day = Overview['series'][number]
export type Part = { key: string; label: string; color: string; of: (counts: Record<EventName, Count>) => number }
type Count = { total: number; unique: number; machine: number }

/** One figure of the overview: its number, what it is a share of, and the parts its bars are made of. */
export type Measure = {
  key: string
  label: string
  meaning: string
  /** What the bars count, where it is not what the figure counts. */
  bars?: string
  value: (totals: Totals) => number
  /** Sent mail is no share of anything. */
  rated: boolean
  /** Whether more of it is good news. */
  moreIsBetter: boolean
  parts: Part[]
}

// Blue, vermilion and sky from the palette of Okabe and Ito, and slate: told apart by lightness too, in both themes.
const blue = 'light-dark(#0a6aa8, #5eb1e8)'
const slate = 'light-dark(#a3b1c2, #66758a)'
const vermilion = 'light-dark(#c2500a, #f0853f)'
const sky = 'light-dark(#7cc0ea, #a5d6f5)'

const people = (name: EventName) => (counts: Record<EventName, Count>) => counts[name].total - counts[name].machine
const machines = (name: EventName) => (counts: Record<EventName, Count>) => counts[name].machine
/** How many mails it happened to, however often it did. */
const mails = (name: EventName) => (counts: Record<EventName, Count>) => counts[name].unique

const byMaker = (name: EventName): Part[] => [
  { key: 'people', label: 'Human', color: blue, of: people(name) },
  { key: 'machines', label: 'Automated', color: slate, of: machines(name) },
]

export const measures: Measure[] = [
  {
    key: 'sent',
    label: 'Sent',
    meaning: 'Emails handed to your mail server.',
    value: mails('emailSent'),
    rated: false,
    moreIsBetter: true,
    parts: [{ key: 'sent', label: 'Sent', color: blue, of: mails('emailSent') }],
  },
  {
    key: 'opened',
    label: 'Opened',
    meaning: 'Emails a person opened at least once. Scanners and privacy proxies are counted separately.',
    bars: 'All opens, human and automated. The number above counts emails a person opened at least once.',
    value: mails('emailOpen'),
    rated: true,
    moreIsBetter: true,
    parts: byMaker('emailOpen'),
  },
  {
    key: 'clicked',
    label: 'Clicked',
    meaning: 'Emails in which a person clicked at least one link.',
    bars: 'All clicks, human and automated. The number above counts emails in which a person clicked.',
    value: mails('emailClick'),
    rated: true,
    moreIsBetter: true,
    parts: byMaker('emailClick'),
  },
  {
    key: 'bounced',
    label: 'Bounced',
    meaning: 'Emails that could not be delivered: permanently (hard) or temporarily (soft).',
    value: (totals) => totals.emailHardBounce.unique + totals.emailSoftBounce.unique,
    rated: true,
    moreIsBetter: false,
    parts: [
      { key: 'hard', label: 'Hard', color: vermilion, of: mails('emailHardBounce') },
      { key: 'soft', label: 'Soft', color: sky, of: mails('emailSoftBounce') },
    ],
  },
  {
    key: 'complaints',
    label: 'Complaints',
    meaning: 'Emails reported as spam.',
    value: mails('emailComplaint'),
    rated: true,
    moreIsBetter: false,
    parts: [{ key: 'complaints', label: 'Complaints', color: vermilion, of: mails('emailComplaint') }],
  },
  {
    key: 'unsubscribed',
    label: 'Unsubscribed',
    meaning: 'Unsubscribes through an email, in the app or through the API.',
    value: mails('contactUnsubscribe'),
    rated: true,
    moreIsBetter: false,
    parts: [{ key: 'unsubscribed', label: 'Unsubscribed', color: vermilion, of: mails('contactUnsubscribe') }],
  },
]
