import type { RelayState, Transport } from '@waxwing/smtp-client'
import type { LRUCache } from 'lru-cache'
import { allConnections, type ConnectionPart, connectionsOf } from '../../platform/config/sending-processes.ts'
import { readOfOperator } from '../../platform/db/cluster/operator-copy.ts'
import type { Db } from '../../platform/db/db.ts'
import { createCache, getOrFetch, kept, refetch } from '../../platform/runtime/cache.ts'
import type { FlowKind } from '../../platform/values/flow-kind.ts'
import type { MailServerId, OrganizationId } from '../../platform/values/ids.ts'
import { chooseServers } from './choose.ts'
import { installationServer, type OpenServer, RetirableTransport } from './open-server.ts'
import { findPreset } from './presets.ts'
import { findOperator, hasMailServers, type MailServerRow, selectUsableServers } from './runtime.sql.ts'

/** Organizations whose mail servers are known at the same time. Connections of the others are closed. */
const organizationsMax = 10_000
/** How long a change of a mail server may go unnoticed. */
const recentMs = 10_000
/** Lanes of an organization whose mail servers are down wait at least this long. */
const waitMsMin = 250
const waitMsMax = 60_000

export type MailServersOptions = {
  db: Db
  /** The transport of SMTP_URL. Without it, emails without a mail server go to the built-in inbox. */
  relay: Transport | undefined
  relayHost?: string | undefined
  /** Whether the limits of receiving sites apply to SMTP_URL. */
  shapeByReceiver?: boolean
  relayConnections?: number
  /** Of the connections to each mail server, until `useConnections` is called. */
  connectionPart?: ConnectionPart
  open: (row: MailServerRow, connections: number, onState: (state: RelayState) => void) => Transport
  /** Called when a mail server fails, after each failed try, and when it works. */
  onState: (row: MailServerRow, state: RelayState) => void
}

/** A mail server of an organization. */
export type OwnServer = OpenServer & { row: MailServerRow }
type TenantServer = OwnServer & { transport: RetirableTransport }
type EmailToSend = {
  organizationId: OrganizationId
  id: string
  flowKind: FlowKind
  /** The server that may have accepted it. */
  mailServerId: MailServerId | null
}
type Known = { servers: readonly TenantServer[]; shared: readonly TenantServer[] }
const none: readonly TenantServer[] = []

/**
 * The mail servers that carry the email of each organization: its own, else the shared ones of the installation, else SMTP_URL.
 * Undefined as a list of servers means the built-in inbox.
 */
export class MailServers {
  readonly #options: MailServersOptions
  readonly #installation: readonly OpenServer[] | undefined
  readonly #known: LRUCache<OrganizationId, Known>
  #part: ConnectionPart
  /** Changes when the organization of the operator is deleted. */
  readonly #findOperator: () => Promise<OrganizationId | undefined>
  #operator: OrganizationId | undefined
  #others = { exist: false, checkedAt: Number.NEGATIVE_INFINITY }

  constructor(options: MailServersOptions) {
    this.#options = options
    const { db, relay } = options
    this.#findOperator = kept(recentMs, async () => (await findOperator(db))?.id)
    this.#part = options.connectionPart ?? allConnections
    this.#installation = relay && [installationOf(relay, options)]
    this.#known = createCache<OrganizationId, Known>(organizationsMax, {
      ttl: recentMs,
      allowStale: true,
      fetchMethod: async (organizationId, last, { signal }) => {
        const rows = await this.#find(organizationId)
        // Too many organizations are known, so the servers of this one were closed.
        signal.throwIfAborted()
        const servers = this.#update(last?.servers ?? none, rows)
        return { servers, shared: servers.filter(({ row }) => row.isShared) }
      },
      dispose: ({ servers }, _id, reason) => {
        if (reason !== 'set') for (const { transport } of servers) transport.retire()
      },
    })
  }

  /** Must be awaited before the other methods are used for an organization. Nearly always, it is known. */
  load(organizationId: OrganizationId): Promise<unknown> | undefined {
    const known = getOrFetch(this.#known, organizationId)
    return known instanceof Promise ? known : undefined
  }

  /** Loads those of the organizations of some jobs, before their places are counted. */
  async loadAll(jobs: readonly { organizationId: OrganizationId }[]): Promise<void> {
    const loading = jobs.flatMap(({ organizationId }) => this.load(organizationId) ?? [])
    if (loading.length > 0) await Promise.all(loading)
  }

  /** After a change of its mail servers by this process. */
  async changed(organizationId: OrganizationId): Promise<void> {
    await refetch(this.#known, organizationId)
  }

  /**
   * Returns the servers for an email in the order in which they are tried. An email that one of them may have accepted already
   * has no other.
   */
  serversFor(
    { organizationId, id, flowKind: kind, mailServerId: pinned }: EmailToSend,
    from: string,
  ): readonly OpenServer[] | undefined {
    const servers = this.#known.get(organizationId)?.servers ?? none
    const shared = this.#shared()
    // The usual case.
    if (servers.length === 0 && shared.length === 0) return this.#installation
    if (pinned === installationServer && this.#installation) return this.#installation
    const same = pinned && [...servers, ...shared].find(({ id }) => id === pinned)
    if (same) return [same]
    const email = { id, kind, from }
    const chosen = chooseServers(servers, email)
    if (chosen.length > 0) return chosen
    const chosenShared = chooseServers(shared, email)
    return chosenShared.length > 0 ? chosenShared : this.#installation
  }

  /** The servers for emails of the service to its users. */
  async serversOfInstallation(id: string, from: string): Promise<readonly OpenServer[] | undefined> {
    this.#operator = await this.#findOperator()
    if (this.#operator) await this.load(this.#operator)
    const shared = chooseServers(this.#shared(), { id, kind: 'transactional', from })
    return shared.length > 0 ? shared : this.#installation
  }

  /** All of an organization's own as they are stored now, in the order in which they are tried. */
  async ownServers(organizationId: OrganizationId): Promise<readonly OwnServer[]> {
    await this.changed(organizationId)
    return this.#known.get(organizationId)?.servers ?? none
  }

  /** The hosts of all servers that may carry email from a domain. */
  async hostsFor(organizationId: OrganizationId, domain: string): Promise<readonly string[]> {
    await this.load(organizationId)
    const servers = (['transactional', 'marketing'] as const).flatMap(
      (flowKind) => this.serversFor({ organizationId, id: '', flowKind, mailServerId: null }, `@${domain}`) ?? [],
    )
    return [...new Set(servers.map(({ host }) => host))]
  }

  /** Whether any organization may send now. */
  isOpen(): boolean {
    if (this.#options.relay?.state().kind !== 'down') return true
    const now = performance.now()
    if (now - this.#others.checkedAt > recentMs) {
      this.#others.checkedAt = now
      hasMailServers(this.#options.db).then(
        (exist) => {
          this.#others.exist = exist
        },
        () => {},
      )
    }
    return this.#others.exist
  }

  /** How long the organization cannot send because all its mail servers are down, or 0. */
  waitMsFor(organizationId: OrganizationId): number {
    const servers = this.#known.get(organizationId)?.servers ?? none
    if (servers.length > 0) return waitMsOf(servers)
    const shared = this.#shared()
    return waitMsOf(shared.length > 0 ? shared : (this.#installation ?? none))
  }

  /** Whether emails of the organization leave the service. */
  async transportOf(organizationId: OrganizationId): Promise<'smtp' | 'inbox'> {
    await this.load(organizationId)
    return this.hasServers(organizationId) || this.#shared().length > 0 || this.#installation ? 'smtp' : 'inbox'
  }

  /** Whether the limits of receiving sites apply to email of the organization, or to some of it. */
  shapes(organizationId: OrganizationId): boolean {
    const servers = this.#known.get(organizationId)?.servers ?? none
    return [...servers, ...this.#shared(), ...(this.#installation ?? none)].some((server) => server.shapeByReceiver)
  }

  /** Whether the organization has mail servers of its own, which slow down no other organization. */
  hasServers(organizationId: OrganizationId): boolean {
    return (this.#known.get(organizationId)?.servers.length ?? 0) > 0
  }

  /** Tries to connect to a mail server. The result is reported to `onState`. */
  async check({ organizationId, id }: { organizationId: OrganizationId; id: MailServerId }): Promise<void> {
    await this.load(organizationId)
    const server = this.#known.get(organizationId)?.servers.find((known) => known.id === id)
    if (server) this.#options.onState(server.row, await server.transport.check())
  }

  /** Mail servers that are down for this process. */
  get down(): number {
    return this.#opened().filter(({ transport }) => transport.state().kind === 'down').length
  }

  /** Uses another part of the connections to each mail server. Resolves when surplus ones are closed. */
  async useConnections(part: ConnectionPart): Promise<void> {
    this.#part = part
    const { relay, relayConnections = 1 } = this.#options
    await Promise.all([
      relay?.resize(connectionsOf(relayConnections, part)),
      ...this.#opened().map(({ row, transport }) => transport.resize(connectionsOf(row.connections, part))),
    ])
  }

  /** Whether emails wait for a connection. */
  get areWaiting(): boolean {
    return (this.#options.relay?.waiting ?? 0) > 0 || this.#opened().some(({ transport }) => transport.waiting > 0)
  }

  async close(): Promise<void> {
    await Promise.all([this.#options.relay?.close(), ...this.#opened().map(({ transport }) => transport.close())])
  }

  #opened(): TenantServer[] {
    return [...this.#known.values()].flatMap(({ servers }) => servers)
  }

  #shared(): readonly TenantServer[] {
    if (!this.#operator) return none
    void this.load(this.#operator)?.catch(() => {})
    return this.#known.get(this.#operator)?.shared ?? none
  }

  async #find(organizationId: OrganizationId): Promise<readonly MailServerRow[]> {
    const { db } = this.#options
    this.#operator = await this.#findOperator()
    const read = () => selectUsableServers(db, organizationId)
    if (this.#operator === organizationId) return readOfOperator(db, 'mail servers', organizationId, read)
    // Not in one statement: those of the operator may be on a node that is down.
    const [rows] = await Promise.all([read(), this.#operator && this.load(this.#operator)])
    return rows
  }

  /** Opens new and changed servers, and retires those that are gone. */
  #update(previous: readonly TenantServer[], rows: readonly MailServerRow[]): TenantServer[] {
    const servers = rows.map((row) => {
      const same = previous.find(({ row: before }) => isSameRow(before, row))
      return same ?? this.#open(row)
    })
    for (const server of previous) if (!servers.includes(server)) server.transport.retire()
    return servers
  }

  #open(row: MailServerRow): TenantServer {
    const { open, onState } = this.#options
    const transport = new RetirableTransport(
      open(row, connectionsOf(row.connections, this.#part), (state) => onState(row, state)),
    )
    // A mail server that was never down reports nothing.
    let isProven = row.status === 'working'
    const send: OpenServer['send'] = async (mail, options) => {
      const outcome = await transport.send(mail, options)
      if (!isProven && outcome.kind === 'accepted') {
        isProven = true
        onState(row, { kind: 'up' })
      }
      return outcome
    }
    return {
      ...row,
      row,
      provider: findPreset(row.preset)?.provider ?? null,
      transport,
      state: () => transport.state(),
      send,
    }
  }
}

const isSameRow = (one: MailServerRow, other: MailServerRow) =>
  one.id === other.id && +one.updatedAt === +other.updatedAt && one.isSetByOwner === other.isSetByOwner

const installationOf = (
  relay: Transport,
  { relayHost = '', shapeByReceiver = false }: MailServersOptions,
): OpenServer => ({
  id: installationServer,
  organizationId: undefined,
  name: 'SMTP_URL',
  host: relayHost,
  provider: null,
  kinds: ['transactional', 'marketing'],
  fromDomains: [],
  priority: 0,
  weight: 1,
  messagesPerSecond: null,
  messagesPerDay: null,
  shapeByReceiver,
  state: () => relay.state(),
  send: (mail, options) => relay.send(mail, options),
})

/** How long no email can leave because all of these servers are down, or 0. */
export function waitMsOf(servers: readonly OpenServer[]): number {
  let nextTryAt = Number.POSITIVE_INFINITY
  for (const server of servers) {
    const state = server.state()
    if (state.kind === 'up') return 0
    nextTryAt = Math.min(nextTryAt, state.nextTryAt.getTime())
  }
  return servers.length === 0 ? 0 : Math.min(waitMsMax, Math.max(waitMsMin, nextTryAt - Date.now()))
}
