import { NODATA, NOTFOUND, SERVFAIL, TIMEOUT } from 'node:dns'
import { Resolver } from 'node:dns/promises'
import { isPublicAddress } from '../../platform/egress/addresses.ts'

const queryTimeoutMs = 2_000
const queryTries = 2
const nameServersMax = 4
/** A name has up to 126 zones, and the servers of each may be slow. */
const findMsMax = 10_000
/** Aliases of a record that are followed. */
const aliasesMax = 3

export type DnsAnswer =
  | { kind: 'found'; values: string[] }
  | { kind: 'none'; nameExists: boolean }
  /** Nothing is known: the servers failed or did not answer. */
  | { kind: 'unanswered'; reason: string }

export type RecordType = 'TXT' | 'CNAME' | 'MX' | 'A' | 'AAAA'

/** Asks name servers. Never throws. */
export type Dns = {
  ask(name: string, type: RecordType): Promise<DnsAnswer>
  /** Ends all queries. */
  cancel(): void
}

/** Asks the name servers of a domain. */
export type DomainDns = Dns & {
  /** Asks about a name of another domain, which no tenant has chosen. */
  askOther(name: string, type: RecordType): Promise<DnsAnswer>
}

/**
 * Asks the name servers of a domain, since others may return old answers for hours. `servers` are asked instead if they
 * are set. Name servers at private addresses are not asked, because the user who adds a domain chooses its servers. The same
 * holds for aliases: the resolver of the system may know internal names, and the answers are shown.
 */
export async function openDns(
  domain: string,
  servers?: readonly string[],
  general = newResolver(servers),
): Promise<DomainDns> {
  const publicResolver = async (name: string) => (servers ? general : findAuthoritative(name, general))
  const authoritative = await publicResolver(domain)
  const askAt = async (
    resolver: Resolver | undefined,
    name: string,
    type: RecordType,
    resolverOf: (name: string) => Promise<Resolver | undefined>,
  ): Promise<DnsAnswer> => {
    let at = name
    for (let aliases = 0; aliases <= aliasesMax; aliases++) {
      // A name server does not know what an alias of another zone points to.
      const asked = aliases === 0 ? resolver : await resolverOf(at)
      if (!asked) return { kind: 'unanswered', reason: `The public name servers of ${at} were not found.` }
      const answer = await query(asked, at, type)
      if (answer.kind !== 'none' || type === 'CNAME') return answer
      const alias = await query(asked, at, 'CNAME')
      if (alias.kind !== 'found') return answer
      at = alias.values[0]!
    }
    return { kind: 'unanswered', reason: `${name} is an alias of an alias, more than ${aliasesMax} times` }
  }
  return {
    ask: (name, type) => askAt(authoritative, name, type, publicResolver),
    askOther: (name, type) => askAt(general, name, type, async () => general),
    cancel() {
      authoritative?.cancel()
      general.cancel()
    },
  }
}

/** Asks the resolver of the system, or `servers` if they are set. For names that need not be up to date. */
export function openCachedDns(servers?: readonly string[]): Dns {
  const resolver = newResolver(servers)
  return { ask: (name, type) => query(resolver, name, type), cancel: () => resolver.cancel() }
}

function newResolver(servers: readonly string[] | undefined): Resolver {
  const resolver = new Resolver({ timeout: queryTimeoutMs, tries: queryTries })
  if (servers) resolver.setServers(servers)
  return resolver
}

/** Returns undefined if they are not found in time, or only at private addresses. */
async function findAuthoritative(domain: string, general: Resolver): Promise<Resolver | undefined> {
  const until = performance.now() + findMsMax
  const timer = setTimeout(() => general.cancel(), findMsMax)
  try {
    return await authoritativeFor(domain, general, until)
  } finally {
    clearTimeout(timer)
  }
}

async function authoritativeFor(domain: string, general: Resolver, until: number): Promise<Resolver | undefined> {
  for (let zone = domain; zone.includes('.'); zone = zone.slice(zone.indexOf('.') + 1)) {
    if (performance.now() >= until) return undefined
    const names = await general.resolveNs(zone).catch(() => [])
    if (names.length === 0) continue
    const addressesOf = async (resolve: (name: string) => Promise<string[]>) => {
      const found = await Promise.all(names.slice(0, nameServersMax).map((name) => resolve(name).catch(() => [])))
      return found.flat().filter(isPublicAddress)
    }
    const ipv4 = await addressesOf((name) => general.resolve4(name))
    const addresses = ipv4.length > 0 ? ipv4 : await addressesOf((name) => general.resolve6(name))
    return addresses.length > 0 ? newResolver(addresses.slice(0, nameServersMax)) : undefined
  }
  return undefined
}

async function query(resolver: Resolver, name: string, type: RecordType): Promise<DnsAnswer> {
  try {
    const values = await valuesOf(resolver, name, type)
    return values.length > 0 ? { kind: 'found', values } : { kind: 'none', nameExists: true }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === NOTFOUND) return { kind: 'none', nameExists: false }
    if (code === NODATA) return { kind: 'none', nameExists: true }
    return { kind: 'unanswered', reason: unanswered(code, name) }
  }
}

async function valuesOf(resolver: Resolver, name: string, type: RecordType): Promise<string[]> {
  switch (type) {
    // A long text is published as several strings, which belong together without a space.
    case 'TXT':
      return (await resolver.resolveTxt(name)).map((strings) => strings.join(''))
    case 'CNAME':
      return (await resolver.resolveCname(name)).map(plainName)
    // The preferred one first.
    case 'MX':
      return (await resolver.resolveMx(name))
        .toSorted((a, b) => a.priority - b.priority)
        .map(({ priority, exchange }) => `${priority} ${plainName(exchange)}`)
    case 'A':
      return resolver.resolve4(name)
    case 'AAAA':
      return resolver.resolve6(name)
  }
}

/** The host in an MX record, after its priority. */
export const mailHostOf = (value: string) => value.slice(value.indexOf(' ') + 1)

const plainName = (name: string) => name.toLowerCase().replace(/\.$/, '')

function unanswered(code: string | undefined, name: string): string {
  if (code === SERVFAIL) return `The name servers of ${name} answered with a failure (SERVFAIL).`
  if (code === TIMEOUT || code === 'ECANCELLED') return `The name servers of ${name} did not answer in time.`
  return `The name servers of ${name} could not be asked (${code ?? 'unknown'}).`
}
