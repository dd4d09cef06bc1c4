import ipaddr from 'ipaddr.js'

/**
 * Returns the key for rate limits by client address: the address for IPv4, the /64 network for IPv6, since providers
 * assign a /64 to each customer.
 */
export function clientNetwork(address: string): string {
  if (!address.includes(':') || !ipaddr.IPv6.isValid(address)) return address
  const parsed = ipaddr.IPv6.parse(address)
  return parsed.isIPv4MappedAddress() ? parsed.toIPv4Address().toString() : parsed.parts.slice(0, 4).join(':')
}
