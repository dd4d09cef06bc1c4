import { type FlowParts, getTestVersion, type TemplateCache } from '../../content/content.ts'
import { notFound } from '../../platform/values/errors.ts'
import type { OrganizationId } from '../../platform/values/ids.ts'
import { findFlowStates } from './accept.sql.ts'
import type { Acceptor } from './accept.ts'
import type { AcceptedEmail, FlowEmail, TestOptions } from './submission.ts'

export const testRecipientsMax = 10

export type TestEmailParts = FlowParts & { acceptor: Acceptor; templates: TemplateCache }

export type TestRequest = Omit<FlowEmail, 'source' | 'content' | 'test'> & {
  organizationId: OrganizationId
  /** Tests the unpublished changes. */
  isDraft: boolean
} & Partial<TestOptions>

/**
 * Queues the email of a flow for each address, also if the flow is paused. Throws `Refusal` if the flow does not exist or
 * variables are missing; nothing is sent then.
 */
export async function sendTestEmails(
  parts: TestEmailParts,
  { isDraft, version, utmQuery, ...email }: TestRequest,
): Promise<AcceptedEmail> {
  const { db, templates, acceptor } = parts
  const { organizationId, flowId } = email
  const [flow] = await findFlowStates(db, [{ organizationId, flowId }])
  if (!flow) throw notFound('flow')
  const id = isDraft || !flow.versionId ? await getTestVersion(parts, organizationId, flowId) : flow.versionId
  const tested = version ?? (await templates.getAll([{ organizationId, id }])).get(id)!
  const accepted = await acceptor.acceptEmail(organizationId, {
    source: 'flow',
    ...email,
    content: null,
    test: { version: tested, utmQuery },
  })
  return accepted.email
}
