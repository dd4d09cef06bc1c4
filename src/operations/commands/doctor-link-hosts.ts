import { once } from 'node:events'
import { connect } from 'node:tls'
import { listTrackingHosts } from '../../delivery/delivery.ts'
import type { Reader } from '../../platform/db/db.ts'
import { bad, type Finding, good } from './finding.ts'

const check = 'Link hosts'
const hostsMax = 50
const concurrentMax = 10
const answerWithinMs = 5_000

/** Where the reverse proxy answers. */
export type ProxyAddress = { host: string; port: number; ca?: string }

/** Checks that the reverse proxy has a certificate for the link hosts of organizations, if there are any. */
export async function* checkLinkHosts(db: Reader, proxy: ProxyAddress): AsyncGenerator<Finding> {
  const hosts = await listTrackingHosts(db, hostsMax)
  if (hosts.length === 0) return
  const problems: Finding[] = []
  const left = hosts.values()
  const checkNext = async () => {
    for (const host of left) {
      const problem = await findProblem(host, proxy)
      if (problem)
        problems.push(
          bad(
            check,
            `links of emails at https://${host} do not work (${problem}): let the reverse proxy request a certificate, see “Link hosts” in docs/guides/self-hosting.md`,
          ),
        )
    }
  }
  await Promise.all(Array.from({ length: concurrentMax }, checkNext))
  if (problems.length === 0) yield good(check, `${hosts.length} checked, all have a certificate`)
  yield* problems
}

/** Returns undefined if a client of the host gets a valid certificate. */
async function findProblem(servername: string, { host, port, ca }: ProxyAddress): Promise<string | undefined> {
  const socket = connect({ host, port, servername, ...(ca && { ca }) })
  try {
    await once(socket, 'secureConnect', { signal: AbortSignal.timeout(answerWithinMs) })
    return undefined
  } catch (error) {
    const { name, code, message } = error as NodeJS.ErrnoException
    return name === 'AbortError' ? 'no answer' : (code ?? message)
  } finally {
    socket.destroy()
  }
}
