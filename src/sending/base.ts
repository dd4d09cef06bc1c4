import type { ContentBase } from '../content/content.ts'
import type { DeliveryBase } from '../delivery/delivery.ts'
import type { Base } from '../platform/base.ts'
import { ContentStore } from './attachments/content-store.ts'
import type { AttemptParts } from './attempts/attempt.ts'
import { createIdHeaders } from './attempts/id-headers.ts'
import type { EmailSettings } from './attempts/outgoing.ts'

/** What an attempt to send an email needs, in the service and in its sending processes. */
export function createAttempts(
  { config, db, stageRegistry, tasks, tokens, baseUrl }: Base,
  { servers, limits, sites, senders, mailFrom }: DeliveryBase,
  { runner }: ContentBase,
): AttemptParts {
  const settings: EmailSettings = {
    get baseUrl() {
      return baseUrl()
    },
    mailFrom,
    bounceDomain: config.BOUNCE_DOMAIN,
    idHeaders: createIdHeaders(config),
  }
  return {
    runner,
    tokens,
    settings,
    servers,
    limits,
    sites,
    senders,
    contents: new ContentStore(db, stageRegistry, tasks),
    retryDelays: config.MAIL_RETRY_DELAYS,
  }
}
