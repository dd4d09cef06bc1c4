import ipaddr from 'ipaddr.js'

/**
 * Returns the key for rate limits: an IPv4 address, or a /64 network, which providers assign to each customer. The address of
 * a connection that was reset is undefined, although types of Node.js and Fastify say otherwise.
 */
export function clientNetwork(address: string | undefined): string {
  if (!address?.includes(':') || !ipaddr.IPv6.isValid(address)) return address ?? ''
  const parsed = ipaddr.IPv6.parse(address)
  return parsed.isIPv4MappedAddress() ? parsed.toIPv4Address().toString() : parsed.parts.slice(0, 4).join(':')
}

/** Returns the address in its only canonical form, and an IPv4 address for one that is mapped to IPv6. */
export function canonicalAddress(address: string): string {
  return ipaddr.isValid(address) ? ipaddr.process(address).toString() : address
}
