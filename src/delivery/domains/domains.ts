import { getDomain } from 'tldts'
import { proposeDefaultSender, removeDefaultSender } from '../../accounts/accounts.ts'
import type { Db, Reader, Tx, Writer } from '../../platform/db/db.ts'
import type { AppSecrets, SecretBox } from '../../platform/secrets/secrets.ts'
import { asciiDomain } from '../../platform/values/domain.ts'
import { conflict, existing, invalid } from '../../platform/values/errors.ts'
import { type DomainId, newId, type OrganizationId } from '../../platform/values/ids.ts'
import { checkRecords, checksOf } from './check-records.ts'
import { domainKeyBox, newDkimKey, newProof } from './dkim-keys.ts'
import { openDns } from './dns.ts'
import { type Checks, type Domain, type DomainStatus, type RecordCheck, trackingHostOf } from './domain.ts'
import {
  claimHost,
  claimName,
  countDomains,
  type DomainKeys,
  deleteDomain,
  findVerified,
  hasOtherVerified,
  insertDomain,
  lockDomain,
  releaseHost,
  releaseName,
  selectDomain,
  selectDomains,
  selectKeys,
  updateChecked,
  updateLabels,
  updateNextKey,
  updateProof,
} from './domains.sql.ts'
import { checkLabels, defaultLabels, type LabelChanges } from './labels.ts'
import { isPublicMailbox } from './public-mailboxes.ts'
import type { DomainHosts } from './records.ts'
import { hostUseOf, isUsed, nextCheckMs, transitionOf } from './transitions.ts'

const domainsMax = 1_000

export type DomainParts = {
  db: Db
  box: SecretBox
  hosts: DomainHosts
  /** The mechanisms of SPF that allow the mail servers that may carry email from a domain. */
  spfSources: (organizationId: OrganizationId, domain: string) => Promise<readonly string[]>
  /** Asked instead of the name servers of a domain, if set. */
  dnsServers: readonly string[] | undefined
  /** The domain of MAIL_FROM, whose default sender needs no replacement. */
  senderDomain?: string
  /** Called in the transaction that changes the status of a domain. */
  onChange: (tx: Tx, domain: Domain, previous: DomainStatus) => Promise<void>
  /** Called after a change was committed, so that this process uses it at once. */
  afterChange: (domain: Pick<Domain, 'organizationId' | 'name'>) => void
}

/** Throws `Refusal` if the name is not a domain, or the organization or another one has it. */
export async function addDomain(
  { db, box, hosts }: Pick<DomainParts, 'db' | 'box' | 'hosts'>,
  organizationId: OrganizationId,
  { name: text, ...labels }: { name: string } & LabelChanges,
): Promise<Domain> {
  const name = checkDomainName(text)
  const { trackingLabel, returnPathLabel } = checkLabels({ name, ...defaultLabels }, labels, hosts)
  const verified = await findVerified(db, name)
  if (verified && verified.organizationId !== organizationId) throw takenByOther(name)
  if ((await countDomains(db, organizationId)) >= domainsMax)
    throw conflict(`An organization can have at most ${domainsMax.toLocaleString('en')} domains.`)
  const domain = await insertDomain(db.statement, {
    organizationId,
    id: newId('dom'),
    name,
    ...(await newProof(box)),
    trackingLabel,
    returnPathLabel,
  })
  if (!domain) throw conflict(`You have added ${name} already.`)
  return domain
}

/** Makes new tokens and keys for the domains of an imported organization. Those of its file may be published already. */
export async function renewProofs(db: Writer, organizationId: OrganizationId, secrets: AppSecrets): Promise<void> {
  const box = domainKeyBox(secrets)
  for (const { id } of await selectDomains(db, organizationId))
    await updateProof(db, organizationId, id, await newProof(box))
}

function checkDomainName(text: string): string {
  const name = asciiDomain(withoutExtras(text).toLowerCase())
  const problem = 'must be a domain name such as example.com'
  if (name === undefined || !/[a-z]/.test(name.slice(name.lastIndexOf('.') + 1)) || !name.includes('.'))
    throw invalid({ path: 'name', problem })
  // Also not a name below which anyone gets one, such as github.io.
  if (getDomain(name, { allowPrivateDomains: true }) === null)
    throw invalid({ path: 'name', problem: 'must be a domain that can be registered' })
  if (isPublicMailbox(name))
    throw invalid({
      path: 'name',
      problem: `must be a domain of your own. The records of ${name} are those of its provider.`,
    })
  return name
}

/** The domain of a pasted web address or email address: `https://example.com/` and `hello@example.com` mean `example.com`. */
const withoutExtras = (text: string) =>
  text
    .trim()
    .replace(/^https?:\/\//i, '')
    .replace(/^[^@/]*@/, '')
    .replace(/[/?#].*$/s, '')
    .replace(/\.$/, '')

/** By name. */
export const listDomains = (db: Reader, organizationId: OrganizationId) => selectDomains(db, organizationId)

/** The domain with its checks for the mail servers as they are now. */
export async function withCurrentChecks(
  { spfSources }: Pick<DomainParts, 'spfSources'>,
  domain: Domain,
): Promise<Domain> {
  return { ...domain, checks: checksOf(domain, await spfSources(domain.organizationId, domain.name)) }
}

export const findDomain = (db: Reader, organizationId: OrganizationId, id: DomainId) =>
  selectDomain(db, organizationId, id)

const takenByOther = (name: string) => conflict(`${name} is verified by another organization.`)

/**
 * Looks up the records and stores the result, unless a check that began later has stored its own. Throws
 * `Refusal` if another organization has verified the domain.
 */
export async function verifyDomain(parts: DomainParts, domain: Domain, now = new Date()): Promise<Domain> {
  const dns = await openDns(domain.name, parts.dnsServers)
  const { organizationId, id } = domain
  const spfSources = await parts.spfSources(organizationId, domain.name)
  const checks = await checkRecords(dns, domain, parts.hosts, spfSources)
  const checked = await parts.db.begin(async (tx) => {
    const current = await existing('domain', lockDomain(tx, organizationId, id))
    if (!hasSameRecords(current, domain) || (current.checkedAt && current.checkedAt > now)) return current
    const canSign = markLostKeys(checks, (await selectKeys(tx, organizationId, id))!, parts.box)
    const { status, failingSince, switchesKey } = transitionOf(current, checks, now, canSign)
    if (
      status === 'verified' &&
      current.status !== 'verified' &&
      !(await claimName(tx, current.name, organizationId, id))
    )
      throw takenByOther(current.name)
    if (status === 'unverified' && current.status !== 'unverified') await releaseName(tx, current.name, organizationId)
    const use = hostUseOf(current, checks)
    await registerHost(tx, current, { status, ...use })
    if (switchesKey) {
      checks.dkim = checks.next_dkim!
      delete checks.next_dkim
    }
    const nextCheckInMs = nextCheckMs({ status, createdAt: current.createdAt }, now)
    const verifiedAt = current.verifiedAt ?? (status === 'verified' ? now : null)
    const changed = (await updateChecked(tx, {
      ...{ organizationId, id, status, checks, verifiedAt, failingSince, switchesKey, nextCheckInMs, ...use },
      checkedAt: now,
    }))!
    if (status !== current.status) await parts.onChange(tx, changed, current.status)
    if (verifiedAt && !current.verifiedAt && changed.name !== parts.senderDomain) await proposeFirst(tx, changed)
    return changed
  })
  if (!isUsedAlike(domain, checked)) parts.afterChange(checked)
  return checked
}

const lostKey =
  'Nothing can be signed with its key, which was encrypted with another APP_SECRET. Rotate the key, or ask the operator to set APP_SECRET_PREVIOUS to that secret.'

/** Whatever is published, a key that cannot be decrypted signs nothing. Returns whether the current one can be. */
function markLostKeys(checks: Checks, { dkimKey, nextDkimKey }: DomainKeys, box: SecretBox): boolean {
  const isLost = (key: Buffer | null) => key !== null && box.open(key) === undefined
  const mark = (check: RecordCheck | undefined): RecordCheck => ({
    status: 'wrong',
    found: check?.found ?? null,
    detail: lostKey,
  })
  if (isLost(nextDkimKey)) checks.next_dkim = mark(checks.next_dkim)
  if (!isLost(dkimKey)) return true
  checks.dkim = mark(checks.dkim)
  return false
}

/** The first verified domain also becomes that of the default sender. */
async function proposeFirst(tx: Tx, { organizationId, id, name }: Domain): Promise<void> {
  if (!(await hasOtherVerified(tx, organizationId, id))) await proposeDefaultSender(tx, organizationId, name)
}

/** Whether emails are sent in the same way. Otherwise nothing has to be read again. */
const isUsedAlike = (before: Domain, after: Domain) =>
  before.status === after.status &&
  before.selector === after.selector &&
  before.usesTrackingHost === after.usesTrackingHost &&
  before.usesReturnPath === after.usesReturnPath

/** False if the key was rotated or a host was changed during a check. */
const hasSameRecords = (a: Domain, b: Domain) =>
  a.selector === b.selector &&
  a.nextSelector === b.nextSelector &&
  a.trackingLabel === b.trackingLabel &&
  a.returnPathLabel === b.returnPathLabel

/**
 * The host stays registered while its record is found, so that links in emails that were sent keep working if the domain
 * is no longer verified.
 */
async function registerHost(tx: Tx, before: Domain, after: Pick<Domain, 'status' | 'usesTrackingHost'>): Promise<void> {
  const host = trackingHostOf(before)
  const isClaimed = ({ status, usesTrackingHost }: typeof after) => isUsed(status) && usesTrackingHost
  if (isClaimed(after) && !isClaimed(before)) await claimHost(tx, host, before.organizationId)
  if (before.usesTrackingHost && !after.usesTrackingHost) await releaseHost(tx, host, before.organizationId)
}

/** Changes the hosts of a domain. Emails carry a new host once its record is found. */
export async function changeLabels(
  { db, hosts, afterChange }: Pick<DomainParts, 'db' | 'hosts' | 'afterChange'>,
  organizationId: OrganizationId,
  id: DomainId,
  changes: LabelChanges,
): Promise<Domain> {
  const { before, after } = await db.begin(async (tx) => {
    const current = await existing('domain', lockDomain(tx, organizationId, id))
    const { trackingLabel, returnPathLabel } = checkLabels(current, changes, hosts)
    const isSameTracking = trackingLabel === current.trackingLabel
    const isSameReturnPath = returnPathLabel === current.returnPathLabel
    if (isSameTracking && isSameReturnPath) return { before: current, after: current }
    if (!isSameTracking) await releaseHost(tx, trackingHostOf(current), organizationId)
    const { tracking, return_path, spf, ...checks } = current.checks
    const changed = await updateLabels(tx, organizationId, id, {
      trackingLabel,
      returnPathLabel,
      usesTrackingHost: isSameTracking && current.usesTrackingHost,
      usesReturnPath: isSameReturnPath && current.usesReturnPath,
      checks: {
        ...checks,
        ...(isSameTracking && tracking && { tracking }),
        ...(isSameReturnPath && { ...(return_path && { return_path }), ...(spf && { spf }) }),
      },
    })
    return { before: current, after: changed! }
  })
  if (!isUsedAlike(before, after)) afterChange(after)
  return after
}

/** Makes a second key. Email is signed with it once its record is found. */
export async function rotateKey(
  { db, box }: Pick<DomainParts, 'db' | 'box'>,
  organizationId: OrganizationId,
  id: DomainId,
): Promise<Domain> {
  const key = await newDkimKey(box)
  return db.begin(async (tx) => {
    const { nextSelector } = await existing('domain', lockDomain(tx, organizationId, id))
    if (nextSelector !== null) throw conflict('A rotation has begun. Publish the record of the new key to finish it.')
    return (await updateNextKey(tx, organizationId, id, key))!
  })
}

/**
 * Email from this domain is no longer signed for it and carries the hosts of the installation. A default sender of the
 * domain is removed with it.
 */
export async function removeDomain(
  { db, afterChange }: Pick<DomainParts, 'db' | 'afterChange'>,
  organizationId: OrganizationId,
  id: DomainId,
): Promise<void> {
  const removed = await db.begin(async (tx) => {
    const domain = await existing('domain', lockDomain(tx, organizationId, id))
    await deleteDomain(tx, organizationId, id)
    await releaseName(tx, domain.name, organizationId)
    await releaseHost(tx, trackingHostOf(domain), organizationId)
    await removeDefaultSender(tx, organizationId, domain.name)
    return domain
  })
  afterChange(removed)
}
