import { isIP } from 'node:net'
import { isPublicAddress } from '../../platform/egress/addresses.ts'

/**
 * Whether only this machine or its network knows a host, so that links to it and email from it do not work for other people.
 * Names are not looked up: those of a private network are fine, since the emails may be for people in it.
 */
export const isOnlyHere = (host: string): boolean =>
  isIP(host) ? !isPublicAddress(host) : /(^|\.)localhost$/.test(host)
