export type BounceKind = 'hard' | 'soft'

/** Why a mail was not delivered. Only the reasons marked hard mean that the address itself is of no use. */
export const kindOfReason = {
  user_unknown: 'hard',
  host_unknown: 'hard',
  address_moved: 'hard',
  mail_not_accepted: 'hard',
  mailbox_disabled: 'hard',
  mailbox_full: 'soft',
  mailbox_suspended: 'soft',
  message_too_big: 'soft',
  rate_limited: 'soft',
  blocked: 'soft',
  authentication: 'soft',
  spam: 'soft',
  virus: 'soft',
  policy: 'soft',
  content: 'soft',
  sender_refused: 'soft',
  relaying_denied: 'soft',
  security: 'soft',
  protocol: 'soft',
  filtered: 'soft',
  recipient_refused: 'soft',
  delayed: 'soft',
  expired: 'soft',
  network: 'soft',
  system: 'soft',
  undetermined: 'soft',
} as const satisfies Record<string, BounceKind>

export type BounceReason = keyof typeof kindOfReason
