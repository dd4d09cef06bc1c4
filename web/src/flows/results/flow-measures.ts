import { blue, type Measure, measures, sentOf, vermilion } from '../../overview/measures.ts'

const delivered: Measure = {
  key: 'delivered',
  label: 'Delivered',
  meaning: 'Emails that did not bounce. A bounce can arrive days later.',
  value: ({ delivered = 0 }) => delivered,
  rated: true,
  moreIsBetter: true,
  parts: [{ key: 'delivered', label: 'Delivered', color: blue, of: ({ delivered = 0 }) => delivered }],
}

const sent: Partial<Measure> = {
  meaning: 'Emails that were delivered or bounced, including those your mail server rejected at once.',
  value: sentOf,
  parts: [{ key: 'sent', label: 'Sent', color: blue, of: sentOf }],
}

const bounced: Partial<Measure> = {
  meaning: 'Emails that could not be delivered. Each counts once, on the day on which it was sent.',
  value: ({ bounced = 0 }) => bounced,
  parts: [{ key: 'bounced', label: 'Bounced', color: vermilion, of: ({ bounced = 0 }) => bounced }],
}

/** The measures of a flow, in the order of the funnel. Emails are counted as in the results of broadcasts. */
export const flowMeasures: Measure[] = measures.flatMap((measure) => {
  if (measure.key === 'sent') return [{ ...measure, ...sent }, delivered]
  return measure.key === 'bounced' ? [{ ...measure, ...bounced }] : [measure]
})

export const isProblem = ({ moreIsBetter }: Measure) => !moreIsBetter
export const colorOf = (measure: Measure) => (isProblem(measure) ? vermilion : blue)
