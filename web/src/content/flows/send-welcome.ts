import { api, pageOf } from '../../api/client.ts'
import { welcomeDraft } from './flow-draft.ts'
import { createFlow, sendToContact } from './flows.api.ts'

/** Sends the welcome flow to the user as an ordinary email, whose open and clicks are recorded, creating it if it does not exist yet. */
export async function sendWelcome(to: string) {
  const draft = welcomeDraft()
  const query = { query: draft.name, status: 'active' } as const
  const { items } = await pageOf(api.GET('/api/v1/organization/flows', { params: { query } }))
  const flow = items.find((candidate) => candidate.name === draft.name) ?? (await createFlow(draft))
  return sendToContact(flow.id, to)
}
