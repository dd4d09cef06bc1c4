import { until } from '../support/until.ts'
import type { Recorder } from './recorder.ts'

/** Groups, contacts, imports and suppressions. Returns the ids that later scenarios use. */
export async function recordAudience(recorder: Recorder): Promise<{ groupId: string; contactId: string }> {
  const { app } = recorder
  const group = await recorder.record('createGroup', { body: { name: 'Newsletter' } })
  const groupId = group.data.id as string
  await recorder.record('addGroupMembers', {
    body: {
      group_id: groupId,
      members: [
        { email: 'ada@example.com', first_name: 'Ada', attributes: { plan: 'pro' } },
        { email: 'grace@example.com', first_name: 'Grace' },
        { email: 'alan@', first_name: 'Alan' },
      ],
    },
  })
  await recorder.record('addGroupMembers', {
    body: { group_id: 'grp_01kjt5r2g0e0t8vz1q0m3w9999', members: [{ email: 'ada@example.com' }] },
    status: 404,
  })
  await recorder.record('listGroups')
  await recorder.record('getGroup', { params: { id: groupId } })
  await recorder.record('updateGroup', { params: { id: groupId }, body: { name: 'Monthly newsletter' } })

  const created = await recorder.record('createContact', {
    body: { email: 'linus@example.com', first_name: 'Linus', attributes: { plan: 'free', seats: 3 } },
  })
  const linus = created.data.id as string
  await recorder.record('createContact', { body: { email: 'linus@example.com' }, status: 409 })
  await recorder.record('createContact', { body: { email: 'linus' }, status: 422 })
  await recorder.record('addContactsToGroup', { params: { id: groupId }, body: { contact_ids: [linus] } })
  await recorder.record('getContact', { params: { id: linus } })
  await recorder.record('updateContact', {
    params: { id: linus },
    body: { last_name: 'Berg', attributes: { plan: 'pro', seats: 5 } },
  })
  const found = await recorder.record('listContacts', { query: { query: 'ada@', limit: '10' } })
  await recorder.record('listContactAttributes')
  await recorder.record('getContactTimeline', { params: { id: linus } })
  await recorder.record('listContactConsents', { params: { id: linus } })
  await recorder.record('removeContactFromGroup', { params: { id: groupId, contact_id: linus } })
  await recorder.record('exportContact', { params: { id: linus } })
  await recorder.record('deleteContact', { params: { id: linus } })
  const unused = await app.manage('POST', '/organization/groups', { name: 'Unused' })
  await recorder.record('deleteGroup', { params: { id: unused.body.data.id } })

  await recordSegments(recorder, groupId)
  await recordBulkActions(recorder)
  await recordImports(recorder)
  await recordSuppressions(recorder)
  return { groupId, contactId: found.data[0].id }
}

async function recordSegments(recorder: Recorder, groupId: string): Promise<void> {
  const isSubscribed = { type: 'status', operator: 'is', value: 'subscribed' }
  const onPro = { type: 'text', field: 'attributes.plan', operator: 'equals', value: 'pro' }
  const filter = {
    type: 'all',
    conditions: [
      isSubscribed,
      onPro,
      { type: 'group', operator: 'member', group_id: groupId },
      { type: 'engagement', operator: 'did_not', event: 'emailClick', within_days: 60 },
    ],
  }
  const created = await recorder.record('createSegment', { body: { name: 'Inactive customers', filter } })
  const { id } = created.data
  await recorder.record('createSegment', { body: { name: 'Inactive customers', filter: onPro }, status: 409 })
  await recorder.record('createSegment', { body: { name: 'S', filter: { ...onPro, operator: 'like' } }, status: 422 })
  await recorder.record('listSegments')
  await recorder.record('getSegment', { params: { id } })
  await recorder.record('countContacts', { query: { segment_id: id } })
  await recorder.record('countSegment', { params: { id } })
  await recorder.record('updateSegment', { params: { id }, body: { name: 'Customers who did not click' } })
  await recorder.record('deleteSegment', { params: { id } })
}

async function recordBulkActions(recorder: Recorder): Promise<void> {
  const { app } = recorder
  const matching = { filter: { type: 'text', field: 'email_domain', operator: 'equals', value: 'example.net' } }
  const started = await recorder.record('createBulkAction', { body: { action: 'unsubscribe', matching } })
  const { id } = started.data
  await until('the action to finish', async () => {
    const { body } = await app.manage('GET', `/organization/bulk-actions/${id}`)
    return body.data.finished_at
  })
  await recorder.record('getBulkAction', { params: { id } })
  await recorder.record('listBulkActions')
  await recorder.record('cancelBulkAction', { params: { id }, status: 409 })
  await recorder.record('exportContacts', {
    query: { status: 'subscribed' },
    shorten: (csv: string) => csv.replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '2026-03-02T09:30:00.000Z'),
  })
}

async function recordCheckedImport(recorder: Recorder, text: string): Promise<void> {
  const accepted = await recorder.app.call('POST', '/api/v1/organization/contacts/import?dry_run=true', {
    headers: { authorization: `Bearer ${recorder.app.session}`, 'content-type': 'text/csv' },
    raw: text,
  })
  const { id } = accepted.body.data
  const statusOf = async () => (await recorder.app.manage('GET', `/organization/imports/${id}`)).body.data.status
  await until('the check to end', async () => (await statusOf()) === 'checked')
  await recorder.record('startImport', { params: { id } })
  await until('the import to finish', async () => (await statusOf()) === 'done')
}

async function recordImports(recorder: Recorder): Promise<void> {
  const text = 'Email,First name,Plan\nmarie@example.com,Marie,pro\nnot an address,Max,free\n'
  const headers = { 'Content-Type': 'text/csv' }
  await recorder.record('inspectImportFile', { headers, text })
  const accepted = await recorder.record('importContacts', { headers, text, query: { filename: 'customers.csv' } })
  const { id } = accepted.data
  await until('the import to finish', async () => {
    const { body } = await recorder.app.manage('GET', `/organization/imports/${id}`)
    return body.data.status === 'done'
  })
  await recorder.record('getImport', { params: { id } })
  await recordCheckedImport(recorder, text)
  await recorder.record('listImports')
  await recordCancelledImport(recorder)
  await recorder.record('undoImport', { params: { id } })
  await until('the undo', async () => {
    const { body } = await recorder.app.manage('GET', `/organization/imports/${id}`)
    return body.data.undo.status === 'done'
  })
}

/** The upload of a second file is still in progress when it is cancelled. */
async function recordCancelledImport(recorder: Recorder): Promise<void> {
  const { app } = recorder
  const rows = Array.from({ length: 200_000 }, (_, index) => `reader${index}@example.com\n`)
  const { body } = await app.call('POST', '/api/v1/organization/contacts/import?filename=old-list.csv', {
    headers: { authorization: `Bearer ${app.session}`, 'content-type': 'text/csv' },
    raw: `Email\n${rows.join('')}`,
  })
  await recorder.record('cancelImport', {
    params: { id: body.data.id },
    shorten: ({ data, ...rest }: { data: object }) => ({
      ...rest,
      data: { ...data, status: 'cancelled', bytes_total: 5088896, bytes_done: 131072, rows_done: 5120, created: 5120 },
    }),
  })
}

async function recordSuppressions(recorder: Recorder): Promise<void> {
  await recorder.record('createSuppression', { body: { email: 'legal@example.org', detail: 'Asked by phone' } })
  await recorder.record('suppressAddresses', {
    body: { list: 'legal@example.org\nlegal@\nold@example.org, older@example.org', detail: 'Closed accounts' },
  })
  await recorder.record('listSuppressions', { query: { reason: 'manual' } })
  await recorder.record('deleteSuppression', { params: { email: 'legal@example.org' } })
  await recorder.record('deleteSuppression', { params: { email: 'nobody@example.org' }, status: 404 })
}
