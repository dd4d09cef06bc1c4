import { blue, type Measure, measures, vermilion } from '../../../engagement/overview/measures.ts'

const delivered: Measure = {
  key: 'delivered',
  label: 'Delivered',
  meaning: 'Emails that did not bounce. A bounce can arrive days later.',
  value: ({ delivered }) => delivered,
  rated: true,
  moreIsBetter: true,
  parts: [{ key: 'delivered', label: 'Delivered', color: blue, of: ({ delivered }) => delivered }],
}

/** The measures of a flow, in the order of the funnel. */
export const flowMeasures: Measure[] = measures.flatMap((measure) =>
  measure.key === 'sent' ? [measure, delivered] : [measure],
)

export const isProblem = ({ moreIsBetter }: Measure) => !moreIsBetter
export const colorOf = (measure: Measure) => (isProblem(measure) ? vermilion : blue)
