import type { Sample } from './sample-data.ts'

const keyOf = (flowId: string) => `waxwing.sample:${flowId}`

/** Stored for this browser tab, so that the values survive navigation. Returns undefined if none were entered. */
export function readSample(flowId: string): Sample | undefined {
  try {
    return JSON.parse(sessionStorage.getItem(keyOf(flowId)) ?? 'null') ?? undefined
  } catch {
    return undefined
  }
}

export function storeSample(flowId: string, sample: Sample): void {
  sessionStorage.setItem(keyOf(flowId), JSON.stringify(sample))
}
