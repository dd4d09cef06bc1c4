import { deliveryId } from '../../events/events.ts'
import { type EventId, type IdOf, type Prefix, parseId, toText, type WebhookId } from '../../platform/values/ids.ts'
import { readUuid, uuidBytes, writeUuid } from '../../platform/values/uuid.ts'

const timestamp = /\b\d{4}-\d\d-\d\dT\d\d:\d\d(?<seconds>:\d\d(?:\.\d+)?(?:Z|\+00:00))?/g
const uuid = /\b[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}\b/g
const idText = /\b([a-z]{3})_[0-7][0-9a-hjkmnp-tv-z]{25}\b/g
const imageUrl = /https?:[^"'\\\s]*\/i\/([\w-]{64})(?=\.)/g
const timeDigits = 12

export type Move = {
  /** A multiple of 15 minutes, so that what began at a full hour still looks planned. */
  byMs: number
  /** Ids that become others. All other ids are moved in time, like the times: lists are sorted by them. */
  replaced: Map<string, string>
  baseUrl: string
}

/** Moves an export in time: all times and ids in its lines, also within texts. */
export async function* moved(lines: AsyncIterable<string>, { byMs, replaced, baseUrl }: Move): AsyncGenerator<string> {
  const moveId = (id: string): string => {
    const known = replaced.get(id)
    if (known) return known
    const ms = Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16) + byMs
    const digits = ms.toString(16).padStart(timeDigits, '0')
    return `${digits.slice(0, 8)}-${digits.slice(8)}${id.slice(13)}`
  }
  const moveText = (text: string): string => {
    const [prefix, id] = [text.slice(0, 3) as Prefix, parseId(text.slice(0, 3) as Prefix, text)]
    return id ? toText(prefix, moveId(id) as IdOf[Prefix]) : text
  }
  const moveTime = (text: string, seconds: string | undefined): string => {
    const at = new Date(Date.parse(seconds ? text : `${text}Z`) + byMs).toISOString()
    return seconds ? at : at.slice(0, text.length)
  }
  const moveImage = (_: string, key: string): string => {
    const bytes = Buffer.from(key, 'base64url')
    for (const at of [0, uuidBytes]) writeUuid(bytes, at, moveId(readUuid(bytes, at)))
    return `${baseUrl.replace(/\/+$/, '')}/i/${bytes.toString('base64url')}`
  }
  let table = ''
  for await (const line of lines) {
    const start = /^\{"table":"(\w+)"/.exec(line)
    if (start) table = start[1]!
    else if (table === 'deliveries') {
      // Their ids follow from those of the event and the webhook.
      const row = JSON.parse(line) as { id: string; event_id: string; webhook_id: string }
      replaced.set(row.id, deliveryId(moveId(row.event_id) as EventId, moveId(row.webhook_id) as WebhookId))
    }
    yield line
      .replace(imageUrl, moveImage)
      .replace(uuid, moveId)
      .replace(idText, moveText)
      .replace(timestamp, (text, _seconds, ...rest) => moveTime(text, rest.at(-1).seconds))
  }
}
