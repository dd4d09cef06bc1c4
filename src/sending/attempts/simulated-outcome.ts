import type { SendOutcome } from '@waxwing/smtp-client'
import { simulatedBehaviour, simulatedBehaviours } from '../../platform/values/simulated-recipients.ts'

const answer = (replyCode: number, status: string, text: string) => ({
  stage: 'recipient' as const,
  replyCode,
  status,
  reply: `${replyCode} ${status} ${text}`,
})

/** Returns what a mail server would answer for a reserved recipient, or undefined for all other addresses. */
export function simulatedOutcome(email: string, attempt: number): SendOutcome | undefined {
  const behaviour = simulatedBehaviour(email)
  switch (behaviour) {
    case undefined:
      return undefined
    case 'hard-bounce':
      return { kind: 'refused', ...answer(550, '5.1.1', 'No such user here (simulated)') }
    case 'soft-bounce':
      return { kind: 'refused', ...answer(552, '5.2.2', 'The mailbox is full (simulated)') }
    case 'deferred':
      if (attempt === 0) return { kind: 'deferred', ...answer(451, '4.7.1', 'Try again later (simulated)') }
      break
    case 'unknown':
      return {
        kind: 'refused',
        ...answer(550, '5.1.1', `No such user here: the simulator knows ${simulatedBehaviours.join(', ')}`),
      }
  }
  return { kind: 'accepted', reply: '250 2.0.0 OK (simulated)', queueId: null }
}
