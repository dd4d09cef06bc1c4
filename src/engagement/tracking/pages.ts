import type { Page } from './page.ts'
import type { Recipient } from './tracking.sql.ts'

// The texts of the pages that recipients see.

export const unknownLinkPage: Page = {
  title: 'This link doesn’t work',
  paragraphs: [
    'It may be incomplete or have been changed.',
    'Please open the link from the email again, or copy the full address.',
  ],
}

export type Paths = { unsubscribe: string; undo: string }

/** Asks for confirmation. `recipient` is undefined while the database is unavailable. */
export function askPage(recipient: Recipient | undefined, paths: Paths): Page {
  const { sender, address } = names(recipient)
  return {
    title: recipient ? `Unsubscribe from ${sender}?` : 'Unsubscribe?',
    paragraphs: [
      `**${address}** will no longer receive marketing emails from **${sender}**.`,
      'You may still receive emails about your account or orders.',
    ],
    action: { label: 'Unsubscribe', path: paths.unsubscribe },
  }
}

export function unsubscribedPage(recipient: Recipient | undefined, paths: Paths): Page {
  const { sender, address } = names(recipient)
  return {
    title: 'You’ve been unsubscribed',
    paragraphs: [`**${address}** will no longer receive marketing emails from **${sender}**.`],
    second: { question: 'Was that a mistake?', label: 'Subscribe again', path: paths.undo },
  }
}

export function subscribedAgainPage(recipient: Recipient | undefined, paths: Paths): Page {
  const { sender, address } = names(recipient)
  return {
    title: 'You’re subscribed again',
    paragraphs: [`**${address}** will keep receiving emails from **${sender}**.`],
    second: { question: 'Changed your mind?', label: 'Unsubscribe', path: paths.unsubscribe },
  }
}

export function goneContactPage(recipient: Recipient): Page {
  return {
    title: 'You’re not subscribed',
    paragraphs: [
      `**${plain(recipient.organizationName)}** has deleted your address and can no longer send you emails.`,
    ],
  }
}

export const testEmailPage: Page = {
  title: 'This is a test email',
  paragraphs: ['The link works. In a test email it unsubscribes no one, so nothing has changed.'],
}

export const unavailablePage: Page = {
  title: 'Please try again in a moment',
  paragraphs: ['We couldn’t save your choice, so nothing has changed yet. Sorry about that.'],
}

function names(recipient: Recipient | undefined): { sender: string; address: string } {
  return {
    sender: recipient ? plain(recipient.organizationName) : 'the sender of this email',
    address: recipient?.email ? plain(maskedAddress(recipient.email)) : 'Your address',
  }
}

/** Removes the mark for emphasis. */
const plain = (text: string) => text.replaceAll('**', '*')

/** Recognizable for its owner, but not readable for others, because links are forwarded. */
function maskedAddress(email: string): string {
  const at = email.lastIndexOf('@')
  const [first = ''] = email.slice(0, at)
  return `${first}•••${email.slice(at)}`
}
