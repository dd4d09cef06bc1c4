import type { AccountEmail } from '../../accounts/accounts.ts'
import type { EmailContent } from './layout.ts'

/** Organization names are chosen by users, also by strangers if registration is open. */
const nameShownMax = 60

/** Links contain the configured BASE_URL, never the Host header of a request. */
export function accountEmailContent(email: AccountEmail, baseUrl: string, recipient: string): EmailContent {
  const footer = `This email was sent to ${recipient} by the Waxwing installation at ${baseUrl}.`
  switch (email.kind) {
    case 'password_reset':
      return {
        subject: 'Reset your Waxwing password',
        heading: 'Reset your password',
        paragraphs: [`Someone, hopefully you, asked for a new password for the account ${recipient}.`],
        action: { label: 'Choose a new password', url: `${baseUrl}/reset-password#${email.token}` },
        note: `The link is valid for ${email.minutes} minutes and can be used once. If you did not ask for it, ignore this email; your password stays as it is.`,
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
      const organization = shortName(email.organizationName)
      return {
        subject: `Join ${organization} on Waxwing`,
        heading: `You have been invited to ${withoutLinks(organization)}`,
        paragraphs: [
          `${withoutLinks(shortName(email.invitedBy))} invited you to join the organization “${withoutLinks(organization)}” as ${email.role === 'owner' ? 'an owner' : 'a member'}.`,
        ],
        action: { label: 'Accept invitation', url: `${baseUrl}/invitation/${email.token}` },
        note: `The link is valid for ${email.days} days and can be used once. If you do not know the sender, ignore this email.`,
        footer,
      }
    }
    case 'email_confirmation':
      return {
        subject: 'Confirm your new email address',
        heading: 'Confirm your new email address',
        paragraphs: [
          `You asked to change the email address of your Waxwing account from ${email.oldEmail} to ${recipient}. Confirm that this address is yours.`,
        ],
        action: { label: 'Confirm address', url: `${baseUrl}/confirm-email#${email.token}` },
        note: `The link is valid for ${email.minutes} minutes and can be used once. If you did not ask for this, ignore this email; nothing changes.`,
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
          `Your account now uses ${email.newEmail} instead of ${recipient}. Sign in with the new address from now on.`,
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
