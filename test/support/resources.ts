import type { Answer, TestApp } from './test-app.ts'

type Client = Pick<TestApp, 'manage'>

/** Creates a resource and returns it; `path` is below /api/v1/organization. Throws if the request is rejected. */
export async function create({ manage }: Client, path: string, body: object): Promise<Answer['body']> {
  return dataOf(await manage('POST', `/organization${path}`, body))
}

/** Returns a resource or a list; `path` is below /api/v1/organization. Throws if the request is rejected. */
export async function read({ manage }: Client, path: string): Promise<Answer['body']> {
  return dataOf(await manage('GET', `/organization${path}`))
}

/** Creates an API key and returns its secret. */
export async function createKey(client: Client, scopes?: readonly string[]): Promise<string> {
  return (await create(client, '/api-keys', { name: 'Program', scopes })).api_key
}

/** Adds contacts to a group with the API key of the app, and creates those that are new. */
export async function addMembers(
  { publicApi }: Pick<TestApp, 'publicApi'>,
  groupId: string,
  members: object[],
): Promise<Answer['body']> {
  return dataOf(await publicApi('POST', '/contacts/add-group-members', { group_id: groupId, members }))
}

function dataOf({ status, text, body }: Answer): Answer['body'] {
  if (status >= 300) throw new Error(text)
  return body.data
}
