import type { DomainId, OrganizationId } from '../../platform/values/ids.ts'

/** What a record of a domain is for. A domain whose key is rotated has two for DKIM. */
export type DomainPurpose = 'ownership' | 'dkim' | 'spf' | 'dmarc' | 'return_path' | 'tracking'
export type RecordKey = DomainPurpose | 'next_dkim'

/** `unknown` if the name servers did not answer, which says nothing about the record. */
export type RecordStatus = 'missing' | 'wrong' | 'ok' | 'unknown'
export type RecordCheck = {
  status: RecordStatus
  /** What is published, if anything. */
  found: string | null
  /** What is wrong, in a sentence. Null if nothing is. */
  detail: string | null
}

export type DomainStatus = 'pending' | 'verified' | 'warning' | 'unverified'
export type Checks = Partial<Record<RecordKey, RecordCheck>>

export type Domain = {
  organizationId: OrganizationId
  id: DomainId
  name: string
  status: DomainStatus
  ownershipToken: string
  selector: string
  dkimPublicKey: string
  nextSelector: string | null
  nextDkimPublicKey: string | null
  /** The first part of the name of the host of links. */
  trackingLabel: string
  returnPathLabel: string
  /** Whether new emails carry the host. A query without an answer does not change this. */
  usesTrackingHost: boolean
  usesReturnPath: boolean
  checks: Checks
  checkedAt: Date | null
  verifiedAt: Date | null
  failingSince: Date | null
  /** How many emails leave on the first, second, … day on which it sends. */
  warmUpPlan: number[] | null
  createdAt: Date
}

/** The host of links, the open pixel and the unsubscribe page. */
export const trackingHostOf = ({ name, trackingLabel }: Pick<Domain, 'name' | 'trackingLabel'>) =>
  `${trackingLabel}.${name}`
/** The domain of the envelope sender, to which bounces are returned. */
export const returnPathHostOf = ({ name, returnPathLabel }: Pick<Domain, 'name' | 'returnPathLabel'>) =>
  `${returnPathLabel}.${name}`
