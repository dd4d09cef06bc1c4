const whole = new Intl.NumberFormat('en')
const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 })
const percent = new Intl.NumberFormat('en', { style: 'percent', maximumFractionDigits: 1 })

export const count = (value: number) => whole.format(value)
export const shortCount = (value: number) => compact.format(value)
/** A dash where there is nothing to take a share of. */
export const share = (part: number, all: number) => (all === 0 ? '–' : percent.format(part / all))
