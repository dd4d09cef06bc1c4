import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'
import ipaddr from 'ipaddr.js'
import { clientNetwork } from '../values/client-address.ts'

export type ConnectionLimit = {
  perNetworkMax: number
  /** Whether the connections from this address may be those of many clients. They are not limited. */
  isProxy: (address: string) => boolean
}

/** Closes further connections of a network (an IPv4 address, or a /64 of IPv6) that has too many. */
export function limitConnections(server: FastifyInstance, { perNetworkMax, isProxy }: ConnectionLimit): void {
  const open = new Map<string, number>()
  server.server.on('connection', (socket: Socket) => {
    const { remoteAddress } = socket
    // Undefined if the connection was reset.
    if (remoteAddress === undefined || isProxy(remoteAddress)) return
    const network = clientNetwork(remoteAddress)
    const count = open.get(network) ?? 0
    if (count >= perNetworkMax) {
      socket.destroy()
      return
    }
    open.set(network, count + 1)
    socket.once('close', () => {
      const left = open.get(network)! - 1
      if (left > 0) open.set(network, left)
      else open.delete(network)
    })
  })
}

/** A proxy on the same machine is common, also where TRUST_PROXY is not set. */
export const isOnThisMachine = (address: string): boolean =>
  ipaddr.isValid(address) && ipaddr.process(address).range() === 'loopback'
