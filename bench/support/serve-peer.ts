import { once } from 'node:events'
import type { AddressInfo, Server } from 'node:net'

/** The child-process side of `startPeer`: listens on free ports and reports how much it received. */
export async function servePeer(create: () => Server, figures: () => { count: number; last?: string }): Promise<void> {
  const wanted = Number(process.argv[2] ?? 1)
  const ports: number[] = []
  for (let i = 0; i < wanted; i++) {
    const server = create().listen(0, '127.0.0.1', 4096)
    await once(server, 'listening')
    ports.push((server.address() as AddressInfo).port)
  }
  process.on('message', () => process.send?.(figures()))
  process.on('disconnect', () => process.exit())
  process.send?.({ ports })
}
