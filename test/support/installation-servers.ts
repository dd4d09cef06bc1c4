import type { Transport } from '@waxwing/smtp-client'
import type { Db } from '../../src/db/db.ts'
import { MailServers } from '../../src/mail-servers/mail-servers.ts'

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
