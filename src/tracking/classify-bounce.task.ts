import type { BounceReport } from '@waxwing/bounce-classifier'
import { defineTask } from '../tasks/task.ts'

/** A mail of ours takes milliseconds; one that was made to be slow is given up. */
export const classifyBounceMail = defineTask<Uint8Array, BounceReport>({
  name: 'tracking.classifyBounce',
  title: 'Reading this bounce mail',
  msMax: 10_000,
  run: async (raw) => {
    const { classifyBounce } = await import('@waxwing/bounce-classifier')
    return classifyBounce(raw)
  },
})
