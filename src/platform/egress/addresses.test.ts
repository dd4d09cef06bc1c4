import fc from 'fast-check'
import ipaddr from 'ipaddr.js'
import { expect, test } from 'vitest'
import { isPublicAddress } from './addresses.ts'

test.each([
  ['this network', '0.0.0.0', '0.255.255.255'],
  ['private 10/8', '10.0.0.0', '10.255.255.255'],
  ['carrier-grade NAT', '100.64.0.0', '100.127.255.255', '100.100.100.200'],
  ['loopback', '127.0.0.0', '127.0.0.1', '127.255.255.255'],
  ['link-local and metadata', '169.254.0.0', '169.254.169.254', '169.254.255.255'],
  ['platform service', '168.63.129.16'],
  ['private 172.16/12', '172.16.0.0', '172.31.255.255'],
  ['protocol assignments', '192.0.0.0', '192.0.0.192', '192.0.0.255'],
  ['documentation', '192.0.2.1', '198.51.100.1', '203.0.113.255'],
  ['6to4 relay', '192.88.99.1'],
  ['private 192.168/16', '192.168.0.0', '192.168.255.255'],
  ['benchmarking', '198.18.0.0', '198.19.255.255'],
  ['multicast', '224.0.0.0', '239.255.255.255'],
  ['reserved and broadcast', '240.0.0.0', '255.255.255.255'],
  ['unspecified and loopback in IPv6', '::', '::1', '0:0:0:0:0:0:0:1'],
  ['IPv4-mapped', '::ffff:10.0.0.1', '::ffff:8.8.8.8', '::ffff:7f00:1'],
  ['IPv4-compatible', '::127.0.0.1', '::8.8.8.8', '::7f00:1'],
  ['IPv4-translated', '::ffff:0:127.0.0.1'],
  ['NAT64', '64:ff9b::10.0.0.1', '64:ff9b::808:808', '64:ff9b:1::1'],
  ['discard', '100::1'],
  ['Teredo', '2001::1', '2001:0:4136:e378:8000:63bf:3fff:fdd2'],
  ['benchmarking in IPv6', '2001:2::1'],
  ['ORCHID', '2001:10::1', '2001:20::1'],
  ['documentation in IPv6', '2001:db8::1', '3fff::1', '3fff:fff:ffff::1'],
  ['6to4', '2002:a00:1::1', '2002:808:808::1'],
  ['segment routing', '5f00::1'],
  ['unique local and metadata', 'fc00::1', 'fd00:ec2::254', 'fdff:ffff::1'],
  ['link-local in IPv6', 'fe80::1', 'febf::1', 'fe80::1%eth0'],
  ['site-local', 'fec0::1'],
  ['multicast in IPv6', 'ff02::1'],
  ['a public address with a zone', '2606:4700::1%eth0'],
  ['not an address', '', 'example.com', '10.0.0', '0x7f.1', '010.0.0.1', '[::1]'],
])('%s is not public', (_, ...addresses) => {
  for (const address of addresses) expect(isPublicAddress(address), address).toBe(false)
})

test.each([
  ['1.1.1.1', '8.8.8.8', '9.255.255.255', '11.0.0.0', '100.63.255.255', '100.128.0.0', '126.255.255.255'],
  ['168.63.129.15', '172.15.255.255', '172.32.0.0', '192.0.1.0', '198.17.255.255', '198.20.0.0', '223.255.255.255'],
  ['2001:200::1', '2001:4860:4860::8888', '2003::1', '2606:4700:4700::1111', '2a00:1450:4001::1', '3ffe::1'],
])('the addresses around those ranges are public (%s …)', (...addresses) => {
  for (const address of addresses) expect(isPublicAddress(address), address).toBe(true)
})

test('every range that ipaddr.js considers special is not public', () => {
  const octets = fc.array(fc.integer({ min: 0, max: 255 }), { minLength: 4, maxLength: 4 })
  const groups = fc.array(fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 0xffff })), { minLength: 7, maxLength: 7 })
  const heads = fc.constantFrom(0, 0x64, 0x100, 0x2001, 0x2002, 0x2620, 0x3fff, 0x5f00, 0xfc00, 0xfe80, 0xfec0, 0xff02)
  const addresses = fc.oneof(
    octets.map((parts) => new ipaddr.IPv4(parts)),
    fc.tuple(heads, groups).map(([head, rest]) => new ipaddr.IPv6([head, ...rest])),
  )
  fc.assert(
    fc.property(addresses, (address) => {
      fc.pre(address.range() !== 'unicast')
      expect(isPublicAddress(address.toString()), address.toString()).toBe(false)
    }),
    { numRuns: 2000 },
  )
})
