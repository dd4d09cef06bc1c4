import type { Recorder } from './recorder.ts'

export async function recordFlowParts(recorder: Recorder): Promise<void> {
  const html = '<p style="color:#667085">{{ brand.name }}</p>'
  const part = await recorder.record('createFlowPart', { body: { name: 'footer', html } })
  await recorder.record('createFlowPart', { body: { name: 'footer', html }, status: 409 })
  const params = { id: part.data.id }
  await recorder.record('listFlowParts')
  await recorder.record('getFlowPart', { params })
  await recorder.record('updateFlowPart', { params, body: { html: '<p>{{ brand.name }}, {{ brand.address }}</p>' } })
  await recorder.record('deleteFlowPart', { params })
}
