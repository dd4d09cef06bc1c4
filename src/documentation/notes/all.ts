import type { Notes } from '../types.ts'
import { administrationNotes } from './administration.ts'
import { audienceNotes } from './audience.ts'
import { broadcastNotes } from './broadcasts.ts'
import { emailNotes } from './email.ts'
import { eventNotes } from './events.ts'

export const notes: Notes = {
  ...administrationNotes,
  ...audienceNotes,
  ...broadcastNotes,
  ...emailNotes,
  ...eventNotes,
}
