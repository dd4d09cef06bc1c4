import { BlockList, isIPv4, isIPv6 } from 'node:net'

/** IPv4 ranges that are not public (IANA special-purpose registry), and other addresses that must not be reached. */
const refusedIPv4 = [
  '0.0.0.0/8', // this network
  '10.0.0.0/8', // private
  '100.64.0.0/10', // carrier-grade NAT, and the metadata service of Alibaba Cloud
  '127.0.0.0/8', // loopback
  '168.63.129.16/32', // the platform service of Azure, a public number that answers every machine there
  '169.254.0.0/16', // link-local, and most metadata services
  '172.16.0.0/12', // private
  '192.0.0.0/24', // protocol assignments, and the metadata service of Oracle Cloud
  '192.0.2.0/24', // documentation
  '192.31.196.0/24', // AS112
  '192.52.193.0/24', // AMT
  '192.88.99.0/24', // 6to4 relays
  '192.168.0.0/16', // private
  '192.175.48.0/24', // AS112
  '198.18.0.0/15', // benchmarking
  '198.51.100.0/24', // documentation
  '203.0.113.0/24', // documentation
  '224.0.0.0/4', // multicast
  '240.0.0.0/4', // reserved, and broadcast
]

/**
 * The only IPv6 block with public hosts. Outside of it are loopback, link-local, unique local, site-local, multicast
 * and discard addresses, and those that contain an IPv4 address: mapped, compatible, translated and NAT64.
 */
const publicIPv6 = '2000::/3'

/** Ranges of that block that are not public. Addresses that contain an IPv4 address are always rejected. */
const refusedIPv6 = [
  '2001::/23', // protocol assignments: Teredo, benchmarking, ORCHID, drone ids and others
  '2001:db8::/32', // documentation
  '2002::/16', // 6to4
  '2620:4f:8000::/48', // AS112
  '3fff::/20', // documentation
]

const refused4 = rangesOf('ipv4', refusedIPv4)
const refused6 = rangesOf('ipv6', refusedIPv6)
const public6 = rangesOf('ipv6', [publicIPv6])

/** Returns whether webhooks may be posted to this IP address. False for one with a zone (`fe80::1%eth0`). */
export function isPublicAddress(address: string): boolean {
  if (isIPv4(address)) return !refused4.check(address, 'ipv4')
  if (!isIPv6(address) || address.includes('%')) return false
  return public6.check(address, 'ipv6') && !refused6.check(address, 'ipv6')
}

function rangesOf(family: 'ipv4' | 'ipv6', ranges: readonly string[]): BlockList {
  const list = new BlockList()
  for (const range of ranges) {
    const [network = '', bits] = range.split('/')
    list.addSubnet(network, Number(bits), family)
  }
  return list
}
