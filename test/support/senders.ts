import { createSenderPolicy } from '../../src/mail/sender-policy.ts'

/** Allows every sender address. */
export const anySender = createSenderPolicy({
  isEnforced: false,
  allowedDomains: [],
  defaultSender: 'hello@acme.example',
  dkimDomain: undefined,
})
