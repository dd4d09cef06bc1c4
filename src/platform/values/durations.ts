export const minuteMs = 60_000
export const hourMs = 60 * minuteMs
export const dayMs = 24 * hourMs

/** An organization that registered itself is new for this long. */
export const newForDays = 14
