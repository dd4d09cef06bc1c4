import type { Account, Service } from './service.ts'

export async function createFlow(service: Service, account: Account): Promise<string> {
  const created = await service.manage(account.session, 'POST', '/organization/flows', {
    name: 'Order confirmation',
    kind: 'transactional',
    subject: 'Your order',
    html: '<p>Hello {{ name }}</p>',
  })
  return created.body.data.id
}
