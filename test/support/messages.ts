import { read } from './resources.ts'
import type { Answer, TestApp } from './test-app.ts'
import { until } from './until.ts'

type Client = Pick<TestApp, 'manage'>

export const getMessage = (client: Client, id: string): Promise<Answer['body']> => read(client, `/messages/${id}`)

/** Waits until the message has the status, and returns it. */
export const messageWith = (client: Client, id: string, status: string): Promise<Answer['body']> =>
  until(`the message to be ${status}`, async () => {
    const message = await getMessage(client, id)
    return message.status === status && message
  })

/** Waits until the message is no longer queued, and returns it. */
export const settledMessage = (client: Client, id: string): Promise<Answer['body']> =>
  until('the message to be settled', async () => {
    const message = await getMessage(client, id)
    return message.status !== 'queued' && message
  })
