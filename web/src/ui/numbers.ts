const whole = new Intl.NumberFormat('en')
const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 })
const percent = new Intl.NumberFormat('en', { style: 'percent', maximumFractionDigits: 1 })

export const count = (value: number) => whole.format(value)
/** A number with its noun: “1 line”, “2,000 lines”. */
export const pluralize = (value: number, one: string, many: string) => `${count(value)} ${value === 1 ? one : many}`
export const shortCount = (value: number) => compact.format(value)
const smallShare = 0.01
const smallPercent = new Intl.NumberFormat('en', { style: 'percent', maximumFractionDigits: 2 })

/** A percentage, or a dash if `all` is 0. */
export const share = (part: number, all: number) =>
  all === 0 ? '–' : (part / all < smallShare ? smallPercent : percent).format(part / all)
