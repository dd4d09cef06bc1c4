import { expect, test } from 'vitest'
import { anySender } from '../../../test/support/senders.ts'
import { startTestApp } from '../../../test/support/test-app.ts'
import { BuiltInFlows } from '../../content/flows/built-in-flows.ts'
import { TemplateCache } from '../../content/flows/template-cache.ts'
import { StageRegistry } from '../../platform/runtime/stage-registry.ts'
import { type OrganizationId, parseId } from '../../platform/values/ids.ts'
import { EmailAcceptor } from './accept-emails.ts'
import type { EmailSubmission } from './email-request.ts'

/** An email by SMTP: each recipient has a key, as made from the Message-ID. */
const emailTo = (organizationId: OrganizationId, names: string[]): EmailSubmission => ({
  organizationId,
  isAtomic: true,
  idempotencyKey: null,
  requestHash: null,
  emails: [
    {
      kind: 'transactional',
      recipients: names.map((name) => ({ email: `${name}@example.com`, emailKey: `${name}@example.com` })),
      recipientKeys: names.map((name) => `smtp ${name}`),
      contentHash: '00',
      subject: 'Hello',
      tags: [],
      sendAt: null,
      content: {
        details: {
          kind: 'email',
          from: { name: null, email: 'hello@acme.example' },
          to: [],
          cc: [],
          replyTo: [],
          headers: [],
          tracking: { opens: false, clicks: false },
          attachments: [],
          raw: null,
        },
        html: null,
        text: 'Hi',
        files: [],
      },
    },
  ],
})

test('of emails with the same Message-ID that arrive at once for other recipients, each recipient gets one', async () => {
  await using app = await startTestApp({}, ['serve'])
  const { db } = app
  const acceptor = new EmailAcceptor({
    stages: new StageRegistry(),
    db,
    flows: new BuiltInFlows(db),
    templates: new TemplateCache(db),
    senders: anySender,
  })
  const organizationId = parseId('org', app.organizationId)!
  const recipientsOf = async (names: string[]) => {
    const { results } = await acceptor.accept(emailTo(organizationId, names))
    return results.flatMap((result) => (result.ok ? result.messages.map(({ id }) => id) : []))
  }
  await recipientsOf(['zoe'])
  // While one batch is written, the others are collected for the next.
  const [, first, second, third] = await Promise.all([
    recipientsOf(['yan']),
    recipientsOf(['ada']),
    recipientsOf(['ada', 'ben']),
    recipientsOf(['cleo', 'ben']),
  ])
  expect([first!.length, second!.length, third!.length]).toEqual([1, 2, 2])
  expect(second![0]).toBe(first![0])
  expect(third![1]).toBe(second![1])
  const rows = await db<{ email: string }>`select email from messages order by email limit 3`
  expect(rows.map(({ email }) => email)).toEqual(['ada@example.com', 'ben@example.com', 'cleo@example.com'])
})
