import { invalid } from '../values/errors.ts'
import { isDeeperThan } from '../values/nesting.ts'
import { isStorableJson, unstorableProblem } from '../values/text.ts'

const contextBytesMax = 64 * 1024
const contextDepthMax = 50

/** Throws `Refusal` if the context is too large or too deep. */
export function contextAsText(context: Record<string, unknown>): string {
  if (isDeeperThan(context, contextDepthMax))
    throw invalid({ path: 'context', problem: `must be nested at most ${contextDepthMax} levels deep` })
  const text = JSON.stringify(context)
  if (Buffer.byteLength(text) > contextBytesMax)
    throw invalid({ path: 'context', problem: 'must be at most 64 KiB as JSON' })
  if (!isStorableJson(text)) throw invalid({ path: 'context', problem: unstorableProblem })
  return text
}
