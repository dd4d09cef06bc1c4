import type { TestApp } from './test-app.ts'
import { until } from './until.ts'

export type ReadMail = {
  id: string
  to: string
  subject: string
  html: string
  text: string
  raw: string
  link: string
}

type Summary = Pick<ReadMail, 'id' | 'to' | 'subject'>

/** Waits for an account email in the built-in inbox and returns it, with the first link in its text. */
export async function accountEmailTo(
  app: Pick<TestApp, 'manage'>,
  email: string,
  subject: RegExp,
  isNew: (mail: Summary) => boolean = () => true,
): Promise<ReadMail> {
  const found = await until(`an email to ${email}`, async () => {
    const { data } = (await app.manage('GET', '/organization/inbox')).body as { data: Summary[] }
    return data.find((mail) => mail.to === email && subject.test(mail.subject) && isNew(mail))
  })
  const { data } = (await app.manage('GET', `/organization/inbox/${found.id}`)).body
  return { ...data, link: linkIn(data.text) }
}

export const linkIn = (text: string): string => /https?:\/\/\S+/.exec(text)?.[0] ?? ''

/** The token of a link: its fragment, or the last part of its path. */
export const tokenIn = (link: string): string => link.split(/[#/]/).at(-1) ?? ''
