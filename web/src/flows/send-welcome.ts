import { api } from '../api/client.ts'
import type { FlowRow } from '../api/types.ts'
import { welcomeDraft } from './flow-draft.ts'
import { createFlow, sendTest } from './flows.api.ts'

/** The first mail: makes the flow when it is not there yet, and sends it. Pressed twice, it makes no second flow. */
export async function sendWelcome(to: string): Promise<unknown> {
  const draft = welcomeDraft()
  const { items } = await api.page<FlowRow>('organization/flows', { query: draft.name, status: 'active' })
  const flow = items.find((candidate) => candidate.name === draft.name) ?? (await createFlow(draft))
  return sendTest(flow.id, { to, context: {} })
}
