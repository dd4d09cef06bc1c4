import type { Db } from '../../platform/db/db.ts'
import type { FlowKind } from '../../platform/values/flow-kind.ts'
import { derivedId, type OrganizationId } from '../../platform/values/ids.ts'
import { type BuiltInFlow, insertBuiltInFlow } from './built-in-flows.sql.ts'

export type { BuiltInFlow } from './built-in-flows.sql.ts'

const names: Record<FlowKind, string> = {
  transactional: 'Emails without a flow',
  marketing: 'Marketing emails without a flow',
}

/** Returns the flow to which emails without one belong. Its ids follow from the organization. */
function builtInFlow(organizationId: OrganizationId, kind: FlowKind): BuiltInFlow {
  return {
    organizationId,
    id: derivedId('flw', organizationId, organizationId, 'emails', kind),
    versionId: derivedId('flv', organizationId, organizationId, 'emails', kind),
    name: names[kind],
    kind,
  }
}

const knownMax = 20_000

/**
 * The flows of emails without a flow: one for each kind, created when the first such email is accepted. They have a name
 * in reports and filters, but are not listed as flows, and cannot be changed or sent through.
 */
export class BuiltInFlows {
  readonly #db: Db
  /** The ids of flows that exist. */
  readonly #existing = new Set<string>()

  constructor(db: Db) {
    this.#db = db
  }

  async get(organizationId: OrganizationId, kind: FlowKind): Promise<BuiltInFlow> {
    const flow = builtInFlow(organizationId, kind)
    if (this.#existing.has(flow.id)) return flow
    await this.#db.begin((tx) => insertBuiltInFlow(tx, flow))
    if (this.#existing.size >= knownMax) this.#existing.clear()
    this.#existing.add(flow.id)
    return flow
  }
}
