import type { Transport } from '@waxwing/smtp-client'
import { MailServers } from '../../src/delivery/mail-servers/mail-servers.ts'
import type { Db } from '../../src/platform/db/db.ts'

/** Servers of an installation in which no organization has any: the given transport, or the built-in inbox. */
export const installationServers = (db: Db, relay?: Transport): MailServers =>
  new MailServers({
    db,
    relay,
    open: () => {
      throw new Error('No organization has a mail server')
    },
    onState: () => {},
  })
