import type { OtherRecords } from '../support/name-server.ts'
import type { Recorder } from './recorder.ts'
import type { Replacement } from './stable.ts'

type DnsRecord = { purpose: string; name: string; value: string }

/** Returns the values that differ in every run. `published` is what the name server knows. */
export async function recordDomains(
  recorder: Recorder,
  published: Map<string, OtherRecords>,
): Promise<readonly Replacement[]> {
  const created = await recorder.record('createDomain', { body: { name: 'shop.example.com' } })
  const id = created.data.id as string
  const params = { id }
  await recorder.record('createDomain', { body: { name: 'localhost' }, status: 422 })
  await recorder.record('updateDomain', { params, body: { tracking_label: 'news' } })
  const records = created.data.records as DnsRecord[]
  for (const { purpose, name, value } of records)
    if (purpose === 'ownership' || purpose === 'dkim') published.set(name, { txt: [value] })
  await recorder.record('verifyDomain', { params })
  await recorder.record('listDomains')
  const rotated = await recorder.record('rotateDomainKey', { params })
  await recorder.record('getDomain', { params })
  await recorder.record('setDomainWarmUp', { params, body: { plan: [50, 100, 200, 400, 800] } })
  await recorder.record('getDomainWarmUp', { params })
  await recorder.record('removeDomainWarmUp', { params })
  await recorder.record('deleteDomain', { params })
  const keys = (rotated.data.records as DnsRecord[]).filter(({ purpose }) => purpose === 'dkim')
  return [
    [records[0]!.value.split('=')[1]!, '5f1c0e9ad84b7c2663d0a1f2b4c8e975'],
    ...keys.flatMap(({ name, value }, index): Replacement[] => [
      [name.split('.')[0]!, `wax${index === 0 ? '3f9c2a71' : '8b04d65e'}`],
      [value.split('p=')[1]!, `MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEA${index === 0 ? 'q3' : 'v7'}…`],
    ]),
  ]
}
