import { isIP } from 'node:net'
import type { ResolvedAddress } from '@waxwing/smtp-client'
import { isPublicAddress } from '../../platform/egress/addresses.ts'
import { checkedAddresses } from '../../platform/egress/dial.ts'
import { type Resolve, resolveByNameServers, resolveBySystem } from '../../platform/egress/resolve.ts'
import { becauseOf, PrivateAddress, Unreachable } from '../../platform/egress/unreachable.ts'
import { problemOfHost } from '../../platform/egress/webhook-url.ts'
import { invalid } from '../../platform/values/errors.ts'

/** The ports of mail submission and their usual alternatives. Others could be used to scan or address other services. */
export const submissionPorts = [25, 465, 587, 2465, 2525, 2587]

/** Throws `Refusal` if organizations must not name this host and port. The addresses are checked when connecting. */
export function checkTarget(
  { host, port }: { host: string; port: number },
  { allowPrivate, path }: { allowPrivate: boolean; path: 'url' | 'host' },
): void {
  if (allowPrivate) return
  const problem = problemOfHost(host)
  if (problem) throw invalid({ path, problem })
  if (!submissionPorts.includes(port))
    throw invalid({ path: path === 'url' ? 'url' : 'port', problem: `must use port ${portsInWords}` })
}

const portsInWords = new Intl.ListFormat('en', { type: 'disjunction' }).format(submissionPorts.map(String))

/** Returns the addresses of a host. Rejects with the reason if it has none, or one that is not public. */
export type ResolveTarget = (host: string) => Promise<ResolvedAddress[]>

export type TargetOptions = { allowPrivate: boolean; resolve?: Resolve | undefined }

export function createResolveTarget({ allowPrivate, resolve: given }: TargetOptions): ResolveTarget {
  const resolve = given ?? (allowPrivate ? resolveBySystem : resolveByNameServers())
  const isAllowed = allowPrivate ? () => true : isPublicAddress
  return async (host) => {
    const family = isIP(host)
    if (family !== 0) {
      if (!isAllowed(host)) throw new PrivateAddress(`${host} is not a public address`)
      return [{ address: host, family: family as 4 | 6 }]
    }
    try {
      return await checkedAddresses(host, { resolve, isAllowed })
    } catch (error) {
      const text = becauseOf(error)
      throw error instanceof PrivateAddress
        ? new PrivateAddress(`${host} ${text}`)
        : new Unreachable(`${host}: ${text}`)
    }
  }
}
