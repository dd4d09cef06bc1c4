export const acknowledgements = ['200', '2xx'] as const
export type Acknowledgement = (typeof acknowledgements)[number]

/** The 4xx statuses that mean "try again later": Request Timeout, Too Early, Too Many Requests. */
export const retryable4xx = [408, 425, 429] as const
export type Retryable4xx = (typeof retryable4xx)[number]

/** How a webhook judges the status of a response. */
export type ResponseRules = {
  acknowledge: Acknowledgement
  /** 4xx statuses that are retried. All others are final. */
  retry4xx: readonly Retryable4xx[]
}

export const defaultRules: ResponseRules = { acknowledge: '200', retry4xx: [] }

/** A receiver cannot postpone an attempt by more than this. */
const retryAfterSecondsMax = 3_600

/** Returns the seconds in a Retry-After header, at most an hour, or 0 if it is missing, in the past or invalid. */
export function retryAfterSeconds(header: string | string[] | undefined, now = Date.now()): number {
  if (typeof header !== 'string') return 0
  const seconds = /^\d{1,9}$/.test(header) ? Number(header) : (Date.parse(header) - now) / 1000
  return seconds > 0 ? Math.min(Math.ceil(seconds), retryAfterSecondsMax) : 0
}
