import { lookup, Resolver } from 'node:dns/promises'

export type ResolvedAddress = { address: string; family: 4 | 6 }
/** Returns every address of a name. Rejects with the error code of the resolver. */
export type Resolve = (name: string) => Promise<ResolvedAddress[]>

// Six seconds in total, since the second try waits twice as long. Distinguishes an unresponsive name server from an
// unresponsive receiver.
const queryTimeoutMs = 2_000
const queryTries = 2

/**
 * Queries the name servers only. The lookup of the system runs on the four shared threads of the process, where a few
 * names with an unresponsive name server would block all other deliveries and file access.
 */
export function resolveByNameServers(servers?: readonly string[]): Resolve {
  return async (name) => {
    // A new resolver per lookup (30 µs) uses the current settings of the machine.
    const resolver = new Resolver({ timeout: queryTimeoutMs, tries: queryTries })
    if (servers) resolver.setServers(servers)
    const [ipv4, ipv6] = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)])
    // IPv4 first, so that a broken IPv6 route costs no time.
    const addresses: ResolvedAddress[] = []
    if (ipv4.status === 'fulfilled') for (const address of ipv4.value) addresses.push({ address, family: 4 })
    if (ipv6.status === 'fulfilled') for (const address of ipv6.value) addresses.push({ address, family: 6 })
    if (addresses.length === 0) throw ipv4.status === 'rejected' ? ipv4.reason : new Error(`${name} has no address`)
    return addresses
  }
}

/** Also resolves names of the hosts file and of container networks, as private receivers need. */
export const resolveBySystem: Resolve = async (name) =>
  (await lookup(name, { all: true, verbatim: true })) as ResolvedAddress[]
