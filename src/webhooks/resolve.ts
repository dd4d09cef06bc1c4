import { lookup, Resolver } from 'node:dns/promises'

export type ResolvedAddress = { address: string; family: 4 | 6 }
/** Every address of a name, or a rejection with the code of the resolver. */
export type Resolve = (name: string) => Promise<ResolvedAddress[]>

// Six seconds in all, the second try waits twice as long: a silent name server is told apart from a silent receiver.
const queryTimeoutMs = 2_000
const queryTries = 2

/**
 * Asks the name servers, and only them. The system's own lookup runs on the process's four shared threads, where a few
 * names with a hanging name server would keep every other delivery waiting, and file access with it.
 */
export function resolveByNameServers(servers?: readonly string[]): Resolve {
  return async (name) => {
    // A new one each time (30 µs) reads the machine's present settings; one kept for long would not notice a change.
    const resolver = new Resolver({ timeout: queryTimeoutMs, tries: queryTries })
    if (servers) resolver.setServers(servers)
    const [ipv4, ipv6] = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)])
    // IPv4 first: a machine with a broken IPv6 route then loses no time.
    const addresses: ResolvedAddress[] = []
    if (ipv4.status === 'fulfilled') for (const address of ipv4.value) addresses.push({ address, family: 4 })
    if (ipv6.status === 'fulfilled') for (const address of ipv6.value) addresses.push({ address, family: 6 })
    if (addresses.length === 0) throw ipv4.status === 'rejected' ? ipv4.reason : new Error(`${name} has no address`)
    return addresses
  }
}

/** Also knows the hosts file and the names of a container network, which is what private receivers need. */
export const resolveBySystem: Resolve = async (name) =>
  (await lookup(name, { all: true, verbatim: true })) as ResolvedAddress[]
