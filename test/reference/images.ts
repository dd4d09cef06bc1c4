import { smallGif } from '../support/small-gif.ts'
import type { Recorder } from './recorder.ts'

export async function recordImages(recorder: Recorder): Promise<void> {
  const query = { name: 'Logo', alt_text: 'Acme' }
  const headers = { 'Content-Type': 'image/gif' }
  const uploaded = await recorder.record('uploadImage', { headers, query, text: '(the file)', bytes: smallGif })
  await recorder.record('uploadImage', {
    headers: { 'Content-Type': 'image/png' },
    query: { name: 'Notes' },
    text: 'not an image',
    status: 422,
  })
  const params = { id: uploaded.data.id }
  await recorder.record('listImages', { query: { query: 'logo' } })
  await recorder.record('getImage', { params })
  await recorder.record('updateImage', { params, body: { alt_text: 'The logo of Acme' } })
  await recorder.record('deleteImage', { params })
}
