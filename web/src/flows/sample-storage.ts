import type { Sample } from './sample-data.ts'

const keyOf = (flowId: string) => `waxwing.sample:${flowId}`

/** Kept in this tab, so that the sample data survives a walk to the versions and back. */
export function readSample(flowId: string): Sample {
  try {
    return JSON.parse(sessionStorage.getItem(keyOf(flowId)) ?? '{}') as Sample
  } catch {
    return {}
  }
}

export function keepSample(flowId: string, sample: Sample): void {
  sessionStorage.setItem(keyOf(flowId), JSON.stringify(sample))
}
