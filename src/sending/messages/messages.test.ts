import { expect, test } from 'vitest'
import { createFlow, send } from '../../../test/support/flows.ts'
import { startTestApp } from '../../../test/support/test-app.ts'
import { newId, toText } from '../../platform/values/ids.ts'

test('flows and messages are found regardless of case, also beyond ASCII', async () => {
  await using app = await startTestApp({}, ['serve'])
  const flowId = await createFlow(app, { name: 'Große Äpfel für ΑΘΉΝΑ', subject: 'ÄPFEL für {{ name }}' })
  const { data: sent } = (await send(app, flowId, { context: { name: 'Éva 100%', order_id: 1 } })).body
  const found = async (list: string, query: string) =>
    (await app.manage('GET', `/organization/${list}?query=${encodeURIComponent(query)}`)).body.data.length

  for (const query of ['äpfel', 'ÄPFEL', 'große äpfel FÜR', 'αθήνα', 'Äpfel f'])
    expect(await found('flows', query)).toBe(1)
  for (const query of ['apfel', 'grosse', 'äpfelx', 'Ä.fel']) expect(await found('flows', query)).toBe(0)
  for (const query of ['äpfel', 'Äpfel FÜR éva', '100%', 'ADA@example']) expect(await found('messages', query)).toBe(1)
  for (const query of [sent.message_id, ` ${sent.contact_id.toUpperCase()} `])
    expect(await found('messages', query)).toBe(1)
  for (const query of ['apfel', 'eva', '%Éva', toText('msg', newId('msg'))])
    expect(await found('messages', query)).toBe(0)
})
