import {
  type AccountMail,
  claimAccountMails,
  deleteAccountMails,
  deleteExpiredAccountMails,
  hasAccountMailWork,
  type MailQueue,
  postponeAccountMails,
} from '../accounts/account-mails.ts'
import { prepareResetMails } from '../accounts/password-resets.ts'
import type { MailContent } from './mail-layout.ts'
import { type SystemMail, type SystemMailParts, sendSystemMails } from './system-mail.ts'

const batchMax = 50
/** Also the wait before another attempt. */
const leaseSeconds = 60
/** Organization names are chosen by users, also by strangers if registration is open. */
const nameShownMax = 60

const queue = { finish: deleteAccountMails, postpone: postponeAccountMails }

export type AccountMailParts = SystemMailParts & { accountMails: MailQueue }

/** Sends pending account emails. While the mail server is unreachable they stay queued until their links expire. */
export async function sendAccountMails(parts: AccountMailParts): Promise<void> {
  const { db, log, relay, settings, accountMails } = parts
  if (!(await hasAccountMailWork(db))) return
  await prepareResetMails(parts)
  if (relay?.state().kind === 'down') return
  await deleteExpiredAccountMails(db.statement)
  const claimed = await claimAccountMails(db.statement, { limit: batchMax, leaseSeconds })
  const mails: SystemMail[] = []
  for (const { organizationId, id, recipient, content, createdAt } of claimed) {
    const mail = accountMails.open(content)
    if (mail) {
      const written = accountMailContent(mail, settings.baseUrl, recipient)
      mails.push({ organizationId, id, kind: 'account', email: recipient, createdAt, content: written })
    } else {
      log.warn({ mail: id }, 'An account email was discarded: it was encrypted with another APP_SECRET')
      await deleteAccountMails(db.statement, [{ organizationId, id }])
    }
  }
  if (mails.length > 0) await sendSystemMails(parts, mails, queue)
}

/** Links contain the configured BASE_URL, never the Host header of a request. */
export function accountMailContent(mail: AccountMail, baseUrl: string, recipient: string): MailContent {
  const footer = `This email was sent to ${recipient} by the Waxwing installation at ${baseUrl}.`
  switch (mail.kind) {
    case 'password_reset':
      return {
        subject: 'Reset your Waxwing password',
        heading: 'Reset your password',
        paragraphs: [`Someone, hopefully you, asked for a new password for the account ${recipient}.`],
        action: { label: 'Choose a new password', url: `${baseUrl}/reset-password#${mail.token}` },
        note: `The link is valid for ${mail.minutes} minutes and can be used once. If you did not ask for it, ignore this email; your password stays as it is.`,
        footer,
      }
    case 'password_changed':
      return {
        subject: 'Your Waxwing password was changed',
        heading: 'Your password was changed',
        paragraphs: [
          `The password of the account ${recipient} was changed, and all other sessions were signed out.`,
          'If this was not you, reset your password now and inform an owner of your organization.',
        ],
        action: { label: 'Reset password', url: `${baseUrl}/forgot-password` },
        footer,
      }
    case 'invitation': {
      const organization = shortName(mail.organizationName)
      return {
        subject: `Join ${organization} on Waxwing`,
        heading: `You have been invited to ${withoutLinks(organization)}`,
        paragraphs: [
          `${withoutLinks(shortName(mail.invitedBy))} invited you to join the organization “${withoutLinks(organization)}” as ${mail.role === 'owner' ? 'an owner' : 'a member'}.`,
        ],
        action: { label: 'Accept invitation', url: `${baseUrl}/invitation/${mail.token}` },
        note: `The link is valid for ${mail.days} days and can be used once. If you do not know the sender, ignore this email.`,
        footer,
      }
    }
    case 'email_confirmation':
      return {
        subject: 'Confirm your new email address',
        heading: 'Confirm your new email address',
        paragraphs: [
          `The Waxwing account ${mail.oldEmail} is to use the address ${recipient} from now on. Confirm that this address is yours.`,
        ],
        action: { label: 'Confirm address', url: `${baseUrl}/confirm-email#${mail.token}` },
        note: `The link is valid for ${mail.minutes} minutes and can be used once. If you did not ask for this, ignore this email; nothing changes.`,
        footer,
      }
    case 'email_taken':
      return {
        subject: 'Your email address already has an account',
        heading: 'This address already has an account',
        paragraphs: [
          `Someone asked to use the address ${recipient} for another Waxwing account. Nothing was changed, because it already belongs to an account.`,
          'If this was you, sign in with this address. If you forgot the password, reset it.',
        ],
        action: { label: 'Sign in', url: `${baseUrl}/login` },
        footer,
      }
    case 'email_changed':
      return {
        subject: 'The email address of your Waxwing account was changed',
        heading: 'Your email address was changed',
        paragraphs: [
          `Your account now uses ${mail.newEmail} instead of ${recipient}. Sign in with the new address from now on.`,
          'If this was not you, inform an owner of your organization or the operator of this installation.',
        ],
        footer,
      }
  }
}

/** Mail clients turn `evil.example` into a link; with an invisible space after the dot they do not. */
const withoutLinks = (name: string): string => name.replace(/\.(?=[^\s.])/g, '.\u200b')

function shortName(name: string): string {
  const plain = name.replace(/\s+/g, ' ').replace(/:\/\//g, ' ').trim()
  return plain.length > nameShownMax ? `${plain.slice(0, nameShownMax - 1)}…` : plain
}
