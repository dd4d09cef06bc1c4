import ipaddr from 'ipaddr.js'

/**
 * What limits by client address count by: the address itself for IPv4, the /64 network for IPv6, since a /64 is what one
 * customer of a provider gets.
 */
export function clientNetwork(address: string): string {
  if (!address.includes(':') || !ipaddr.IPv6.isValid(address)) return address
  const parsed = ipaddr.IPv6.parse(address)
  return parsed.isIPv4MappedAddress() ? parsed.toIPv4Address().toString() : parsed.parts.slice(0, 4).join(':')
}
