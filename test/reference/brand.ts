import type { Recorder } from './recorder.ts'

export async function recordBrand(recorder: Recorder): Promise<void> {
  await recorder.record('updateBrand', {
    body: { name: 'Acme Store', color: '#8a3ab9', font: 'georgia', postal_address: 'Main Street 1\n1010 Vienna' },
  })
  await recorder.record('updateBrand', { body: { website_url: 'acme' }, status: 422 })
  await recorder.record('getBrand')
}
