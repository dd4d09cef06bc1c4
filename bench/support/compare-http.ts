import { HttpLoad } from './http-load.ts'
import { options } from './options.ts'
import { startPeer } from './peer.ts'
import { type Comparison, interleave } from './rounds.ts'
import type { Service } from './service.ts'

const connections = 256

/** Compares the service with a bare node:http server under the same load. */
export async function compareWithHello(
  service: Service,
  requests: { ours: () => Buffer; reference: () => Buffer },
): Promise<Comparison> {
  const hello = await startPeer('hello')
  const [ours, reference] = await Promise.all([
    HttpLoad.open(service.port, connections),
    HttpLoad.open(hello.ports[0]!, connections),
  ])
  const comparison = await interleave(
    async () => {
      const cpuBefore = service.cpuMicros()
      const round = await ours.run(requests.ours, options.roundMs)
      const cpuAfter = service.cpuMicros()
      return { ...round, cpuMicros: cpuBefore === null || cpuAfter === null ? null : cpuAfter - cpuBefore }
    },
    () => reference.run(requests.reference, options.roundMs),
  )
  ours.close()
  reference.close()
  return comparison
}
