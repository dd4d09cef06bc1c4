import { Type } from 'typebox'
import { checkFields } from '../../content/content.ts'
import { Named, Nullable } from '../../platform/http/envelope.ts'
import { VariantKeyOut } from '../variant-shapes.ts'
import type { CheckedEmails } from './check-emails.ts'

/** The part of a check that concerns the email. */
export const emailCheckFields = {
  ...checkFields,
  findings: Type.Array(
    Named('BroadcastFinding', { ...checkFields.findings.items.properties, variant: Nullable(VariantKeyOut) }),
    {
      description:
        'What should be corrected in the email before it is sent, as the first complete recipient would get it. `variant` is null if it concerns all emails.',
    },
  ),
}

export const emailCheckOut = ({ findings, links, htmlBytes }: CheckedEmails) => ({
  findings,
  links,
  html_bytes: htmlBytes,
})
