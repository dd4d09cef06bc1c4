import { create } from '../support/resources.ts'
import { until } from '../support/until.ts'
import type { Recorder } from './recorder.ts'

const newsletter = {
  name: 'Monthly news',
  kind: 'marketing',
  subject: 'News for {{ first_name | default: "you" }}',
  html: '<p>{{ headline }} <a href="https://acme.example/news">Read more</a></p>',
}

/** A local time. */
const inTwoDays = () => new Date(Date.now() + 2 * 86_400_000).toISOString().slice(0, 16)

/** A draft that is checked, tested, sent, and results; and one that is scheduled, paused and cancelled. */
export async function recordBroadcasts(recorder: Recorder): Promise<void> {
  const { app } = recorder
  const groupId = (await create(app, '/groups', { name: 'Readers' })).id as string
  const members = ['ida', 'joan', 'kurt'].map((name) => ({ email: `${name}@example.com`, first_name: name }))
  await app.publicApi('POST', '/contacts/add-group-members', { group_id: groupId, members })
  const flow = (await create(app, '/flows', newsletter)).id as string
  const created = await recorder.record('createBroadcast', {
    body: {
      name: 'November news',
      flow_id: flow,
      audience: { group_ids: [groupId] },
      context: { headline: 'Two new birds' },
    },
  })
  const id = created.data.id as string
  const params = { id }
  await recorder.record('createBroadcast', {
    body: { name: 'News', schedule: { time_zone: 'Mars/Base' } },
    status: 422,
  })
  await recorder.record('countBroadcastAudience', { body: { audience: { group_ids: [groupId] } } })
  await recorder.record('updateBroadcast', { params, body: { context: { headline: 'Three new birds' } } })
  const checked = await recorder.record('checkBroadcast', { params })
  const { recipients } = checked.data
  await recorder.record('testBroadcast', { params, body: { to: 'editor@acme.example' } })
  await recorder.record('startBroadcast', { params, body: { expected_recipients: recipients + 1 }, status: 409 })
  const accepted = checked.data.blockers.map(({ code }: { code: string }) => code)
  const confirmation = { expected_recipients: recipients, accepted_blockers: accepted }
  await recorder.record('startBroadcast', { params, body: confirmation })
  await until('the broadcast to be sent', async () => {
    const { body } = await app.manage('GET', `/organization/broadcasts/${id}`)
    return body.data.status === 'sent'
  })
  await recorder.record('getBroadcast', { params })
  const listed = await recorder.record('listBroadcastRecipients', { params, query: { status: 'sent', limit: '1' } })
  await recorder.record('exportBroadcastRecipients', { params })
  await recorder.record('listBroadcastLinks', { params })
  await recorder.record('getBroadcastHours', { params })
  await recorder.record('previewBroadcast', { params, body: { contact_id: listed.data[0].contact_id } })
  await recorder.record('compareBroadcasts', { query: { ids: id } })
  const copy = await recorder.record('duplicateBroadcast', { params })
  await recorder.record('listBroadcasts', { query: { status: 'sent' } })
  await recorder.record('sendBroadcastAgain', { params, body: { subject: 'Did you see the birds, {{ first_name }}?' } })
  await recordControls(recorder, copy.data.id, recipients)
  await recordRetry(recorder, groupId)
  await recordVariants(recorder, groupId, flow)
}

async function recordControls(recorder: Recorder, id: string, recipients: number): Promise<void> {
  const { app } = recorder
  const params = { id }
  const path = `/organization/broadcasts/${id}`
  const unused = (await app.manage('POST', `${path}/duplicate`)).body.data.id
  await recorder.record('deleteBroadcast', { params: { id: unused } })
  const later = (await app.manage('POST', `${path}/duplicate`)).body.data.id
  await app.manage('PATCH', `/organization/broadcasts/${later}`, {
    schedule: { at: inTwoDays(), time_zone: 'Europe/Vienna' },
  })
  await recorder.record('scheduleBroadcast', { params: { id: later }, body: { expected_recipients: recipients } })
  await recorder.record('cancelBroadcast', { params: { id: later } })
  const { id: sooner } = (await app.manage('POST', `/organization/broadcasts/${later}/duplicate`)).body.data
  await app.manage('POST', `/organization/broadcasts/${sooner}/schedule`)
  await recorder.record('sendBroadcastNow', { params: { id: sooner }, body: { expected_recipients: recipients } })
  await until('the broadcast to be sent', async () => {
    const { body } = await app.manage('GET', `/organization/broadcasts/${sooner}`)
    return body.data.status === 'sent'
  })
  // One email every hour.
  await app.manage('PATCH', path, { messages_per_hour: 1 })
  await app.manage('POST', `${path}/start`, { expected_recipients: recipients })
  await until('the first email', async () => (await app.manage('GET', path)).body.data.counts.sent > 0)
  await recorder.record('pauseBroadcast', { params })
  await recorder.record('resumeBroadcast', { params })
  await app.manage('POST', `${path}/cancel`)
}

/** Half of the recipients get two subjects, and the others the one that is chosen. */
async function recordVariants(recorder: Recorder, groupId: string, flow: string): Promise<void> {
  const { app } = recorder
  const draft = {
    name: 'December news',
    flow_id: flow,
    audience: { group_ids: [groupId] },
    context: { headline: 'Four new birds' },
    variants: [
      { subject: 'Four new birds', share: 50 },
      { subject: 'Look who is here, {{ first_name }}', share: 50 },
    ],
    test_percent: 50,
    winner_by: 'manual',
  }
  const { id } = await create(app, '/broadcasts', draft)
  const path = `/organization/broadcasts/${id}`
  await app.manage('POST', `${path}/start`)
  await until('the sample', async () => (await app.manage('GET', path)).body.data.counts.sent === 2)
  await recorder.record('chooseBroadcastVariant', { params: { id }, body: { variant: 'B' } })
  await until('the rest', async () => (await app.manage('GET', path)).body.data.status === 'sent')
}

/** The template needs an attribute that the contacts lack. */
async function recordRetry(recorder: Recorder, groupId: string): Promise<void> {
  const { app } = recorder
  const flow = { ...newsletter, html: '<p>News for {{ contact.attributes.city }}</p>' }
  const { id: flowId } = await create(app, '/flows', flow)
  const draft = { name: 'News by city', flow_id: flowId, audience: { group_ids: [groupId] } }
  const { id } = await create(app, '/broadcasts', draft)
  const path = `/organization/broadcasts/${id}`
  const { recipients } = (await app.manage('POST', `${path}/check`)).body.data
  await app.manage('POST', `${path}/start`, { expected_recipients: recipients })
  await until('the failed recipients', async () => (await app.manage('GET', path)).body.data.status === 'sent')
  await recorder.record('retryBroadcastFailed', { params: { id } })
  await until('the second round', async () => (await app.manage('GET', path)).body.data.status === 'sent')
}
