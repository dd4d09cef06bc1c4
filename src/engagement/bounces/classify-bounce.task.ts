import type { BounceReport } from '@waxwing/bounce-classifier'
import { defineTask } from '../../platform/tasks/task.ts'

/** Ordinary bounces take milliseconds; one crafted to be slow is aborted. */
export const classifyBounceTask = defineTask<Uint8Array, BounceReport>({
  name: 'tracking.classifyBounce',
  title: 'Classifying this bounce',
  msMax: 10_000,
  run: async (raw) => {
    const { classifyBounce } = await import('@waxwing/bounce-classifier')
    return classifyBounce(raw)
  },
})
