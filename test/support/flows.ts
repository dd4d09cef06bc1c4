import type { TestApp } from './test-app.ts'

export const orderFlow = {
  name: 'Order shipped',
  kind: 'transactional',
  subject: 'Order {{ order_id }} is on its way',
  html: '<p>Hello {{ first_name | default: "there" }}, see <a href="https://shop.example/orders/{{ order_id }}">your order</a>.</p>',
}

/** Creates a flow and returns its id. */
export async function createFlow(app: TestApp, flow: object = {}): Promise<string> {
  const answer = await app.manage('POST', '/organization/flows', { ...orderFlow, ...flow })
  if (answer.status !== 201) throw new Error(answer.text)
  return answer.body.data.id
}

export const send = (app: TestApp, flowId: string, more: object = {}, headers: Record<string, string> = {}) =>
  app.publicApi(
    'POST',
    '/flow/send-email-through-flow',
    { flow_id: flowId, contact_email: 'ada@example.com', context: { order_id: 1042 }, ...more },
    headers,
  )
