import type { Arguments, Outcome, ToolCaller } from './call-tool.ts'
import type { UserAnswer } from './confirmations.ts'
import type { Tool } from './tools.ts'

/** If the recipients or the blockers change while the user thinks, the user is asked again, this often at most. */
const questionsMax = 3

export type Ask = (question: { message: string; requestedSchema: object }) => Promise<UserAnswer | undefined>
export type StartTools = Record<'get' | 'check' | 'start', Pick<Tool, 'operation'>>

type Broadcast = { name: string; service_announcement: boolean; schedule: { at: string | null } }
type Check = {
  recipients: number
  unsubscribed: number
  not_subscribed: number
  blockers: { code: string; message: string }[]
}

const refused = (error: string): Outcome => ({ isError: true, status: 409, data: { error } })

/** Starts a broadcast after the user has confirmed the exact number of recipients, and what speaks against it. */
export async function startConfirmed(
  caller: Pick<ToolCaller, 'run'>,
  { get, check, start }: StartTools,
  { broadcast_id }: Arguments,
  ask: Ask | undefined,
): Promise<Outcome> {
  if (!ask)
    return refused(
      'This client cannot ask its user for confirmation (MCP elicitation), so nothing was sent. Start the broadcast in the web app.',
    )
  for (let questions = 0; questions < questionsMax; questions++) {
    const found = await caller.run(get, { broadcast_id })
    if (found.isError) return found
    const counted = await caller.run(check, { broadcast_id })
    if (counted.isError) return counted
    const broadcast = found.data as Broadcast
    const { recipients, unsubscribed, blockers } = counted.data as Check
    if (recipients > 0 && !(await isConfirmed(ask, broadcast, counted.data as Check)))
      return refused('The user did not confirm. Nothing was sent.')
    const started = await caller.run(start, {
      broadcast_id,
      expected_recipients: recipients,
      accepted_blockers: codesOf(blockers),
      ...(broadcast.service_announcement && { expected_unsubscribed: unsubscribed }),
    })
    if (started.status !== 409) return started
    // Another reason than what was confirmed: the next check would find the same.
    const again = await caller.run(check, { broadcast_id })
    if (again.isError || confirmedBy(again.data as Check) === confirmedBy(counted.data as Check)) return started
  }
  return refused('The recipients or the blockers keep changing. Nothing was sent.')
}

const codesOf = (blockers: Check['blockers']) => [...new Set(blockers.map(({ code }) => code))]
const confirmedBy = ({ recipients, unsubscribed, blockers }: Check) =>
  JSON.stringify([recipients, unsubscribed, codesOf(blockers)])

async function isConfirmed(ask: Ask, broadcast: Broadcast, check: Check): Promise<boolean> {
  const answer = await ask(questionOf(broadcast, check))
  return answer?.action === 'accept' && answer.content.confirm === true
}

/** The number comes first: the name is a text of the organization. */
function questionOf(broadcast: Broadcast, { recipients, unsubscribed, blockers }: Check) {
  const people = recipients === 1 ? '1 recipient' : `${recipients.toLocaleString('en')} recipients`
  const unwilling =
    broadcast.service_announcement && unsubscribed > 0
      ? `, ${unsubscribed.toLocaleString('en')} of whom unsubscribed from marketing email`
      : ''
  const time = broadcast.schedule.at === null ? 'now' : `at ${broadcast.schedule.at}`
  const problems = blockers.map(({ message }) => ` Problem: ${message}`).join('')
  return {
    message: `Send this broadcast to ${people}${unwilling}, ${time}?${problems} Name: ${JSON.stringify(broadcast.name)}`,
    requestedSchema: {
      type: 'object',
      properties: { confirm: { type: 'boolean', title: `Send to ${people}`, description: 'This cannot be undone.' } },
      required: ['confirm'],
    },
  }
}
