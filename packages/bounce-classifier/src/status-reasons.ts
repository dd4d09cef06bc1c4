import { type BounceReason, kindOfReason } from './reasons.ts'

// RFC 3463 and its registry, by subject and detail; 1.351 and 4.310 are Exchange Online's.
const statusReasons: Record<string, BounceReason> = {
  '1.1': 'user_unknown',
  '1.2': 'host_unknown',
  '1.3': 'user_unknown',
  '1.6': 'address_moved',
  '1.7': 'sender_refused',
  '1.8': 'sender_refused',
  '1.10': 'user_unknown',
  '1.351': 'user_unknown',
  '2.1': 'mailbox_disabled',
  '2.2': 'mailbox_full',
  '2.3': 'message_too_big',
  '3.4': 'message_too_big',
  '4.4': 'host_unknown',
  '4.7': 'expired',
  '4.310': 'host_unknown',
  '7.13': 'mailbox_suspended',
  '7.20': 'authentication',
  '7.21': 'authentication',
  '7.22': 'authentication',
  '7.23': 'authentication',
  '7.25': 'blocked',
  '7.26': 'authentication',
}
const subjectReasons: Record<string, BounceReason> = {
  '1': 'undetermined',
  '2': 'filtered',
  '3': 'system',
  '4': 'network',
  '5': 'protocol',
  '6': 'content',
  '7': 'policy',
}

/** Returns the meaning of a status without words, or null if it has none. */
export function reasonOfStatus(status: string): BounceReason | null {
  const [kind, subject = '', detail = ''] = status.split('.')
  const reason = statusReasons[`${subject}.${detail}`] ?? subjectReasons[subject] ?? null
  return kind === '4' && reason && kindOfReason[reason] === 'hard' ? 'undetermined' : reason
}

const replyReasons: Record<number, BounceReason> = {
  421: 'system',
  450: 'filtered',
  452: 'mailbox_full',
  552: 'mailbox_full',
  556: 'mail_not_accepted',
}

export function reasonOfReply(code: number | null): BounceReason {
  return (code !== null && replyReasons[code]) || 'undetermined'
}
