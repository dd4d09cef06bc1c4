/** Recipients that are read and started together. */
export const chunkMax = 500
/** With a rate, a chunk holds the emails of this many seconds. */
const rateChunkSeconds = 5

/** Returns how many emails are started together. */
export const chunkSizeOf = (messagesPerHour: number | null): number =>
  messagesPerHour === null
    ? chunkMax
    : Math.min(chunkMax, Math.max(1, Math.floor((messagesPerHour * rateChunkSeconds) / 3_600)))
