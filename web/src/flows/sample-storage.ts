import type { Sample } from './sample-data.ts'

const keyOf = (flowId: string) => `waxwing.sample:${flowId}`

/** Stored for this browser tab, so that the sample data survives navigation. */
export function readSample(flowId: string): Sample {
  try {
    return JSON.parse(sessionStorage.getItem(keyOf(flowId)) ?? '{}') as Sample
  } catch {
    return {}
  }
}

export function storeSample(flowId: string, sample: Sample): void {
  sessionStorage.setItem(keyOf(flowId), JSON.stringify(sample))
}
