import { asciiDomain, domainOfAddress } from '../../platform/values/domain.ts'
import type { FlowKind } from '../../platform/values/flow-kind.ts'

/** Which email a mail server carries, and in which order it is tried. */
export type Routing = {
  kinds: readonly FlowKind[]
  /** Empty: all. */
  fromDomains: readonly string[]
  priority: number
  weight: number
}

export type EmailToRoute = { id: string; kind: FlowKind; from: string }

const carries = ({ kinds, fromDomains }: Routing, { kind, from }: EmailToRoute): boolean =>
  kinds.includes(kind) && (fromDomains.length === 0 || fromDomains.includes(domainOf(from)))

const domainOf = (address: string) => asciiDomain(domainOfAddress(address).toLowerCase()) ?? ''

/**
 * Returns the servers for an email in the order in which they are tried: lower priorities first, among equal ones by weight.
 * The order depends on the id of the email, so that it is the same after a crash. `servers` are sorted by priority.
 */
export function chooseServers<Server extends Routing>(
  servers: readonly Server[],
  email: EmailToRoute,
): readonly Server[] {
  const usable = servers.filter((server) => carries(server, email))
  if (usable.length < 2) return usable
  const random = randomFrom(email.id)
  const chosen: Server[] = []
  for (let start = 0; start < usable.length; ) {
    let end = start + 1
    while (end < usable.length && usable[end]!.priority === usable[start]!.priority) end++
    chosen.push(...shuffled(usable.slice(start, end), random))
    start = end
  }
  return chosen
}

/** The last characters of an id are random. */
function randomFrom(id: string): () => number {
  let state = Number.parseInt(id.slice(-8), 16) || 0
  return () => {
    // mulberry32
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

function shuffled<Server extends Routing>(servers: Server[], random: () => number): Server[] {
  const rest = [...servers]
  const order: Server[] = []
  while (rest.length > 1) {
    let point = random() * rest.reduce((sum, { weight }) => sum + weight, 0)
    const index = rest.findIndex(({ weight }) => {
      point -= weight
      return point < 0
    })
    order.push(...rest.splice(Math.max(0, index), 1))
  }
  return [...order, ...rest]
}
