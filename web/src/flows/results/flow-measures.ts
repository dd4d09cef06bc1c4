import { blue, type Measure, measures, vermilion } from '../../overview/measures.ts'

const delivered: Measure = {
  key: 'delivered',
  label: 'Delivered',
  meaning: 'Emails your mail server accepted and that did not bounce. A bounce can arrive days later.',
  value: (totals) =>
    Math.max(0, totals.emailSent.unique - totals.emailHardBounce.unique - totals.emailSoftBounce.unique),
  rated: true,
  moreIsBetter: true,
  parts: [
    {
      key: 'delivered',
      label: 'Delivered',
      color: blue,
      of: (day) => Math.max(0, day.emailSent.unique - day.emailHardBounce.unique - day.emailSoftBounce.unique),
    },
  ],
}

/** The measures of a flow, in the order of the funnel. */
export const flowMeasures: Measure[] = measures.flatMap((measure) =>
  measure.key === 'sent' ? [measure, delivered] : [measure],
)

export const isProblem = ({ moreIsBetter }: Measure) => !moreIsBetter
export const colorOf = (measure: Measure) => (isProblem(measure) ? vermilion : blue)
