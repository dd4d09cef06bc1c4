import { Type } from 'typebox'
import { Named } from '../../platform/http/envelope.ts'
import { type FlowId, toText } from '../../platform/values/ids.ts'

/** A flow that uses an image or a brand. */
export const FlowReference = Named('FlowReference', { id: Type.String(), name: Type.String() })

export const flowReferences = (flows: readonly { id: FlowId; name: string }[]) =>
  flows.map(({ id, name }) => ({ id: toText('flw', id), name }))
