import type { onRequestHookHandler } from 'fastify'
import { dayMs } from '../values/durations.ts'
import { Refusal } from '../values/errors.ts'
import type { Server } from './server.ts'

/** RFC 9116 recommends less than a year. */
const validDays = 180

export type SecurityTxtOptions = {
  /** A URI with which to report vulnerabilities. Without it, the response is 404. */
  contact: string | undefined
  baseUrl: () => string
  onRequest: onRequestHookHandler
}

/** Registers /.well-known/security.txt (RFC 9116). */
export function registerSecurityTxt(server: Server, { contact, baseUrl, onRequest }: SecurityTxtOptions): void {
  server.get('/.well-known/security.txt', {
    onRequest,
    config: { permission: 'public' },
    schema: { hide: true },
    handler: async (_request, reply) => {
      if (!contact) throw new Refusal('not_found', 'Not found.')
      return reply.type('text/plain; charset=utf-8').send(securityTxt(contact, baseUrl(), Date.now()))
    },
  })
}

/** Expires at the end of a day, so that the text changes once a day. */
function securityTxt(contact: string, baseUrl: string, nowMs: number): string {
  const expires = new Date((Math.floor(nowMs / dayMs) + validDays) * dayMs)
  return [
    `Contact: ${contact}`,
    `Expires: ${expires.toISOString()}`,
    'Preferred-Languages: en',
    `Canonical: ${baseUrl.replace(/\/$/, '')}/.well-known/security.txt`,
    '',
  ].join('\n')
}
