import type { MessageId, OrganizationId } from '../../platform/values/ids.ts'
import { type EmailParts, submitEmail } from '../../sending/sending.ts'

export type FirstEmail = { organizationId: OrganizationId; from: string; to: string; baseUrl: string }

/** Sends an email whose link shows that it has arrived. Throws `Refusal` if the sender may not be used. */
export async function sendFirstEmail(
  parts: EmailParts,
  { organizationId, from, to, baseUrl }: FirstEmail,
): Promise<MessageId> {
  const { email } = await submitEmail(parts, {
    organizationId,
    input: { from, to, subject: 'Your first email', html: htmlOf(`${baseUrl}/sending/setup`) },
    files: () => ({ problem: 'is not supported' }),
    idempotencyKey: null,
  })
  return email.messages[0]!.id
}

const htmlOf = (url: string) => `<!doctype html>
<html lang="en">
<body style="margin: 0; padding: 24px; font-family: sans-serif; font-size: 16px; line-height: 1.5">
<p>This email was sent by your installation of Waxwing, through your mail server.</p>
<p>Look at its headers to see whether SPF, DKIM and DMARC passed. If it was in the spam folder, check the records of your domain.</p>
<p><a href="${url}" style="font-weight: bold">It has arrived</a></p>
</body>
</html>`
