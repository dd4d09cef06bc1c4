import { type ProviderEvent, readSesEvent } from '@waxwing/bounce-classifier'
import { parseInTurns } from '../../../platform/http/json-body.ts'
import { Refusal } from '../../../platform/values/errors.ts'
import { idHeader, idName } from '../../../sending/sending.ts'
import type { Clues } from '../correlate.ts'
import { isComplaint, type Verdict } from '../verdicts.ts'
import { at, listAt, parseJson, textAt, timeOf } from './json.ts'
import { bounceOf, notAuthenticated, type ProviderReport, type ReadReports } from './provider.ts'
import { type FetchText, isSubscribeUrl, SnsSignatures } from './sns.ts'

export type SesSettings = {
  /**
   * Only messages of these topics are accepted, since any AWS customer can have SNS sign a message. Undefined if the address
   * to which they are posted is secret.
   */
  topics: readonly string[] | undefined
  signatures?: SnsSignatures
  fetchText: FetchText
}

/** Amazon SES through SNS: notifications of an identity and events of a configuration set. */
export function sesReports(settings: SesSettings): ReadReports {
  const { topics, fetchText, signatures = new SnsSignatures(fetchText) } = settings
  return async ({ body, turns }) => {
    const message = await parseJson(body, turns)
    if (topics && !topics.includes(textAt(message, 'TopicArn') ?? '')) throw notAuthenticated()
    const isGenuine = await signatures.isGenuine(message).catch((error: Error) => {
      throw new Refusal('unavailable', `Could not fetch the Amazon SNS signing certificate: ${error.message}`)
    })
    if (!isGenuine) throw notAuthenticated()
    switch (textAt(message, 'Type')) {
      case 'SubscriptionConfirmation': {
        const url = textAt(message, 'SubscribeURL') ?? ''
        if (!isSubscribeUrl(url)) throw notAuthenticated()
        await fetchText(url)
        return []
      }
      case 'Notification':
        return reportsOf(await readNotification(textAt(message, 'Message') ?? '', turns))
      default:
        return []
    }
  }
}

/** SNS also sends plain text, for example to confirm that notifications were set up. */
async function readNotification(text: string, turns: string): Promise<unknown> {
  try {
    return await parseInTurns(Buffer.from(text), turns, (json) => JSON.parse(json))
  } catch (error) {
    if (error instanceof Refusal) throw error
    return undefined
  }
}

function reportsOf(event: unknown): ProviderReport[] {
  const read = readSesEvent(event)
  const clues = cluesOf(at(event, 'mail'))
  if (read?.isComplaint) {
    const { feedbackType } = read
    if (!isComplaint(feedbackType)) return []
    const occurredAt = timeOf(at(event, 'complaint', 'timestamp'))
    return [{ clues, occurredAt, verdict: { kind: 'complaint', feedbackType } }]
  }
  const failed = read?.recipients.find(({ action }) => action === 'failed')
  if (!failed) return []
  const occurredAt = timeOf(at(event, 'bounce', 'timestamp'))
  return [{ clues, occurredAt, verdict: bounceVerdict(failed, textAt(event, 'bounce', 'bounceSubType') ?? '') }]
}

/** Every message has one recipient. */
function bounceVerdict(failed: ProviderEvent['recipients'][number], subType: string): Verdict {
  const { isPermanent, status, diagnostic } = failed
  return bounceOf({ isPermanent, status, text: diagnostic || subType })
}

function cluesOf(mail: unknown): Clues {
  const headers = listAt(mail, 'headers').map((header) => [textAt(header, 'name'), textAt(header, 'value')])
  const header = (wanted: string) => headers.find(([name]) => name?.toLowerCase() === wanted.toLowerCase())?.[1]
  const tagged = listAt(mail, 'tags', idName).filter((tag) => typeof tag === 'string')
  return {
    signed: [...tagged, header(idHeader) ?? '', textAt(mail, 'source') ?? ''],
    messageIds: [header('Message-ID') ?? '', textAt(mail, 'commonHeaders', 'messageId') ?? ''],
  }
}
