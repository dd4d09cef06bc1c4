import type { Db } from '../../platform/db/db.ts'
import { domainOfAddress } from '../../platform/values/domain.ts'
import { parseEmail } from '../../platform/values/email.ts'
import type { EmailPath } from '../../platform/values/email-path.ts'
import type { OrganizationId } from '../../platform/values/ids.ts'
import type { DkimSigner } from '../dkim/dkim.ts'
import { isOnlyHere } from '../domains/only-here.ts'
import type { SenderPolicy } from '../domains/sender-policy.ts'
import type { Senders, UsedDefaultSender } from '../domains/senders.ts'
import { chooseServers } from './choose.ts'
import type { MailServers, OwnServer } from './mail-servers.ts'
import type { OpenServer } from './open-server.ts'
import { findOnlyOrganization } from './runtime.sql.ts'
import { findServerStates } from './states.ts'

type Mailbox = Pick<UsedDefaultSender, 'name' | 'email'>

export type CarriersOptions = {
  db: Db
  servers: MailServers
  senders: Pick<Senders, 'defaultOf' | 'identityOf'>
  policy: Pick<SenderPolicy, 'signs'>
  dkim: DkimSigner | undefined
  mailFrom: Mailbox
}

/** How an email to a user leaves. */
export type Carrier = {
  servers: readonly OpenServer[]
  from: Mailbox
  signer: DkimSigner | undefined
}

type EmailToCarry = { organizationId: OrganizationId; id: string; isPrivate: boolean }

/**
 * Decides how emails of the service to the users of an organization leave: through the servers of the installation, else through
 * those of the organization. Private emails have links that sign in, or are about the security of accounts. Who controls a
 * server can read or hold back what leaves through it, so these leave only through servers of the organization whose connection
 * an owner was the last to change: members must not become others, and owners can replace them anyway.
 */
export class Carriers {
  readonly #options: CarriersOptions

  constructor(options: CarriersOptions) {
    this.#options = options
  }

  /** Whether no email can leave now, because all servers of the installation are down. */
  async areDown(): Promise<boolean> {
    const servers = await this.#ofInstallation('')
    return servers?.every((server) => server.state().kind === 'down') ?? false
  }

  /** Returns undefined if no server may carry the email. */
  async find(email: EmailToCarry): Promise<Carrier | undefined> {
    const { dkim, policy, mailFrom } = this.#options
    const servers = await this.#ofInstallation(email.id)
    if (servers) return { servers, from: mailFrom, signer: policy.signs(mailFrom.email) ? dkim : undefined }
    return this.#findOwn(email)
  }

  /** What happens to an email that is written now. */
  async pathOf(organizationId: OrganizationId, { isPrivate }: { isPrivate: boolean }): Promise<EmailPath> {
    const { db } = this.#options
    const carrier = await this.find({ organizationId, id: '', isPrivate })
    if (!carrier) return 'not_sent'
    // Another process may be the one that sends.
    const failing = (await findServerStates(db, organizationId)).filter(({ status }) => status === 'failing')
    const isDown = (server: OpenServer) => server.state().kind === 'down' || failing.some(({ id }) => id === server.id)
    return carrier.servers.every(isDown) ? 'waiting' : 'sending'
  }

  /** The same for everybody, so that it does not reveal who has an account, or in which organization. */
  async pathOfResets(): Promise<EmailPath | 'depends'> {
    const servers = await this.#ofInstallation('')
    if (servers) return servers.every((server) => server.state().kind === 'down') ? 'waiting' : 'sending'
    const only = await findOnlyOrganization(this.#options.db)
    return only ? this.pathOf(only, { isPrivate: true }) : 'depends'
  }

  #ofInstallation(id: string): Promise<readonly OpenServer[] | undefined> {
    const { servers, mailFrom } = this.#options
    return servers.serversOfInstallation(id, mailFrom.email)
  }

  async #findOwn({ organizationId, id, isPrivate }: EmailToCarry): Promise<Carrier | undefined> {
    const { servers, senders } = this.#options
    const all = await servers.ownServers(organizationId)
    const usable = all.filter(({ row }) => !isPrivate || row.isSetByOwner)
    if (usable.length === 0) return undefined
    for (const { from, servers: some } of await this.#sendersOf(organizationId, usable)) {
      const chosen = chooseServers(some, { id, kind: 'transactional', from: from.email })
      if (chosen.length === 0) continue
      const { signer } = await senders.identityOf(organizationId, from.email)
      return { servers: chosen, from, signer }
    }
    return undefined
  }

  /** The senders that can be used, the best first. Without a default sender, a server may show from whom it accepts email. */
  async #sendersOf(organizationId: OrganizationId, servers: readonly OwnServer[]) {
    const { senders } = this.#options
    const { name, email } = await senders.defaultOf(organizationId)
    const usual = { from: { name, email }, servers }
    const ofServers = await Promise.all(servers.map((server) => this.#senderOf(organizationId, server)))
    const all = [usual, ...ofServers.flatMap((sender) => sender ?? [])]
    return isOnlyHere(domainOfAddress(email)) ? [...all.slice(1), usual] : all
  }

  async #senderOf(organizationId: OrganizationId, server: OwnServer) {
    const [domain] = server.row.fromDomains
    const user = parseEmail(server.row.username ?? '')
    const email = domain ? `hello@${domain}` : user.ok ? user.address : undefined
    if (!email || !(await this.#options.senders.identityOf(organizationId, email)).isVerified) return undefined
    return { from: { name: null, email }, servers: [server] }
  }
}
