import type { TestApp } from './test-app.ts'

/** Adds a mail server to the organization of the app, and returns its id. */
export async function addMailServer(app: Pick<TestApp, 'manage'>, input: Record<string, unknown>): Promise<string> {
  const { status, text, body } = await app.manage('POST', '/organization/mail-servers', { name: 'Main', ...input })
  if (status !== 201) throw new Error(text)
  return body.data.id
}
