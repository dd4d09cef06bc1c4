import { newCustomer } from './service.ts'
import { callUrl, type TestApp } from './test-app.ts'
import { until } from './until.ts'

const news = {
  name: 'Newsletter',
  kind: 'marketing',
  subject: 'Hello {{ first_name | default: "there" }}',
  html: '<p>News for {{ city }}. <a href="https://example.com/news">Read</a></p>',
}

export const emails = (prefix: string, count: number) =>
  Array.from({ length: count }, (_, index) => `${prefix}${String(index).padStart(5, '0')}@example.com`)

/** Like `fill`, in a new organization of a service in another process. */
export async function fillUrl(url: string) {
  const { manage, apiKey } = await newCustomer(url)
  const headers = { 'x-api-token': apiKey }
  return fill({
    manage,
    publicApi: (method, path, body) => callUrl(method, `${url}/public/api/v1${path}`, { headers, body }),
  })
}

/** A flow, and functions that create groups and broadcasts. */
export async function fill(app: Pick<TestApp, 'manage' | 'publicApi'>) {
  const make = async (path: string, body: object) => {
    const answer = await app.manage('POST', `/organization${path}`, body)
    if (answer.status >= 300) throw new Error(answer.text)
    return answer.body.data
  }
  const flow: string = (await make('/flows', news)).id
  const group = async (name: string, addresses: string[], attributes: object = { city: 'Vienna' }) => {
    const { id } = await make('/groups', { name })
    for (let at = 0; at < addresses.length; at += 1_000)
      await app.publicApi('POST', '/contacts/add-group-members', {
        group_id: id,
        members: addresses.slice(at, at + 1_000).map((email) => ({ email, attributes })),
      })
    return id as string
  }
  const create = async (groupIds: string[], more: object = {}) => {
    const { id } = await make('/broadcasts', {
      name: 'News',
      flow_id: flow,
      audience: { group_ids: groupIds },
      ...more,
    })
    const path = `/organization/broadcasts/${id}`
    const get = async () => (await app.manage('GET', path)).body.data
    const act = async (action: string, body?: object) => app.manage('POST', `${path}/${action}`, body)
    const start = async (action = 'start') => {
      const { recipients } = (await act('check')).body.data
      return act(action, { expected_recipients: recipients })
    }
    const ended = async (...statuses: string[]) => {
      const states = statuses.length > 0 ? statuses : ['sent']
      return until(`the broadcast to be ${states}`, async () => {
        const broadcast = await get()
        return states.includes(broadcast.status) && broadcast
      })
    }
    const recipients = async (status: string) => {
      const { body } = await app.manage('GET', `${path}/recipients?status=${status}&limit=100`)
      return body.data as { email: string; reason: string | null; message_id: string | null }[]
    }
    return { id, get, act, start, ended, recipients }
  }
  return { make, flow, group, create }
}
