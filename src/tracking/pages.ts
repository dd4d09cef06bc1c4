import type { Page } from './page.ts'
import type { Recipient } from './tracking.sql.ts'

// The words of the pages that readers of mails see.

export const unknownLinkPage: Page = {
  title: 'This link does not work',
  paragraphs: [
    'It may have been cut off or changed on its way to you.',
    'Please use the link in the email once more, or copy the whole of it.',
  ],
}

export type Paths = { unsubscribe: string; undo: string }

/** Before the button is pressed. The recipient is undefined while the database cannot be asked. */
export function askPage(recipient: Recipient | undefined, paths: Paths): Page {
  const { sender, reader } = names(recipient)
  return {
    title: recipient ? `Unsubscribe from ${sender}?` : 'Unsubscribe?',
    paragraphs: [
      `**${reader}** will get no more marketing emails from **${sender}**.`,
      'Emails about what you do there, such as orders and receipts, may still come.',
    ],
    action: { label: 'Unsubscribe', path: paths.unsubscribe },
  }
}

export function unsubscribedPage(recipient: Recipient | undefined, paths: Paths): Page {
  const { sender, reader } = names(recipient)
  return {
    title: 'You are unsubscribed',
    paragraphs: [`**${reader}** will get no more marketing emails from **${sender}**.`],
    second: { question: 'Was that a mistake?', label: 'Subscribe again', path: paths.undo },
  }
}

export function subscribedAgainPage(recipient: Recipient | undefined, paths: Paths): Page {
  const { sender, reader } = names(recipient)
  return {
    title: 'You are subscribed again',
    paragraphs: [`**${sender}** will go on writing to **${reader}**.`],
    second: { question: 'Changed your mind?', label: 'Unsubscribe', path: paths.unsubscribe },
  }
}

export function goneContactPage(recipient: Recipient): Page {
  return {
    title: 'There is nothing to unsubscribe from',
    paragraphs: [
      `**${plain(recipient.organizationName)}** does not have your address any more, and cannot write to you.`,
    ],
  }
}

export const unavailablePage: Page = {
  title: 'Please try again in a moment',
  paragraphs: ['We could not store your choice just now, so nothing has changed yet. We are sorry.'],
}

function names(recipient: Recipient | undefined): { sender: string; reader: string } {
  return {
    sender: recipient ? plain(recipient.organizationName) : 'the sender of this email',
    reader: recipient?.email ? plain(maskedAddress(recipient.email)) : 'Your address',
  }
}

/** Two stars would be taken for emphasis. */
const plain = (text: string) => text.replaceAll('**', '*')

/** Enough for its owner to know it by, and not enough for others: links are forwarded. */
function maskedAddress(email: string): string {
  const at = email.lastIndexOf('@')
  const [first = ''] = email.slice(0, at)
  return `${first}•••${email.slice(at)}`
}
