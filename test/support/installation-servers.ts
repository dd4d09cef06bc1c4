import type { Transport } from '@waxwing/smtp-client'
import { Senders } from '../../src/delivery/domains/senders.ts'
import { Carriers } from '../../src/delivery/mail-servers/carriers.ts'
import { MailServers } from '../../src/delivery/mail-servers/mail-servers.ts'
import type { Db } from '../../src/platform/db/db.ts'
import { SecretBox } from '../../src/platform/secrets/secrets.ts'
import type { EmailSettings } from '../../src/sending/attempts/outgoing.ts'
import { anySender } from './senders.ts'

/** Of an installation in which no organization has a mail server: the given transport, or the built-in inbox. */
export function installationCarriers(db: Db, settings: EmailSettings, relay?: Transport): Carriers {
  const servers = new MailServers({
    db,
    relay,
    open: () => {
      throw new Error('No organization has a mail server')
    },
    onState: () => {},
  })
  const shared = { db, policy: anySender, dkim: undefined }
  const box = new SecretBox({ current: 'of no domain', previous: undefined }, 'domains')
  const senders = new Senders({ ...shared, box, hosts: settings, defaultSender: settings.mailFrom })
  return new Carriers({ ...shared, servers, senders, mailFrom: settings.mailFrom })
}
