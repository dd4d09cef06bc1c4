import { randomUUID } from 'node:crypto'

export const dateHeader = (ms: number): string => `Date: ${new Date(ms).toUTCString().replace('GMT', '+0000')}`

/** Returns a random Message-ID for an email with this sender. */
export const newMessageIdHeader = (sender: string): string =>
  `Message-ID: <${randomUUID()}@${sender.slice(sender.lastIndexOf('@') + 1)}>`
