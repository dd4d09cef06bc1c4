import type { Notes } from '../types.ts'

export const audienceNotes: Notes = {
  checkToken: {
    details:
      'Use it to verify a configured key, for example when a program starts. Any valid key can call it. `organization_id` is returned at both places.',
  },
  addGroupMembers: {
    details:
      'Creates contacts that do not exist yet and adds all of them to the group. A request has 1 to 10,000 members and at most 16 MiB. The request can be repeated safely. `rejected` lists the members that were not stored, by their index in the request.',
    errors: {
      not_found: 'The group does not exist. Nothing was stored.',
      validation_failed: 'No member is valid, or the request has no or too many members.',
    },
  },

  listContacts: {
    details:
      'Up to five words of `query` are searched in the address and the names, without regard to case and accents. All filters can be combined.',
    errors: { not_found: 'The segment does not exist.' },
  },
  countContacts: {
    details:
      'Takes the same filters as the list of contacts. If `approximate` is true, counting took too long and `count` is an estimate from a sample; request it again with `exact=true` for the exact number.',
    errors: { not_found: 'The segment does not exist.' },
  },
  exportContacts: {
    details:
      'Fields, groups and one column per attribute; above 200 attributes, one column with all of them as JSON. The response is streamed. Cells that a spreadsheet would run as a formula start with an apostrophe.',
    errors: { not_found: 'The segment does not exist.' },
  },
  listBulkActions: { details: 'The newest 20. Records are kept for 90 days.' },
  createBulkAction: {
    details:
      'The contacts are selected once, when the action starts, so it does not matter if it changes what the filter tests. Contacts that are already in the wanted state are counted in `processed`, but not in `changed`. An organization can have ten actions in progress. Erasing cannot be undone.',
    errors: {
      conflict: 'Ten actions are in progress.',
      not_found: 'The group or segment does not exist, or a contact id is malformed.',
      validation_failed: 'Neither or both of `contact_ids` and `matching` are given, or the group is missing.',
    },
  },
  getBulkAction: { details: 'Poll it about once a second until `finished_at` is set.' },
  cancelBulkAction: { errors: { conflict: 'The action has already finished.' } },
  createContact: {
    details:
      'The contact is subscribed, unless its address unsubscribed earlier. `group_ids` adds it to at most 100 groups. Attributes are free-form: at most 100 keys, 16 KiB as JSON, 10 levels deep.',
    errors: {
      conflict: 'A contact with this address already exists. Addresses are compared without regard to case.',
      not_found: 'One of the groups does not exist. Nothing was created.',
    },
  },
  getContact: { details: '`status` combines the subscription of the contact with the suppressions of its address.' },
  updateContact: {
    errors: {
      conflict: 'Another contact has this address.',
      precondition_failed: 'The record was edited since the version in `If-Match`. Nothing was changed.',
    },
  },
  deleteContact: {
    details: 'This cannot be undone. Export the contact first if you need a record of it.',
  },
  getContactTimeline: { details: '`kind` is `message`, `event` or `change`; fields of other kinds are null.' },
  listContactConsents: {
    details:
      'The record of consent. Contacts that were created by a send, or subscribed before this was recorded, may have no entries.',
  },
  exportContact: { details: 'The response is streamed, with a `Content-Disposition` header that names a file.' },

  listImports: { details: 'The newest 20 imports. Reports are kept for 90 days.' },
  getImport: { details: 'Poll it about once a second until `status` is `done`, `failed` or `cancelled`.' },
  cancelImport: { errors: { conflict: 'The import has already finished.' } },
  undoImport: {
    details: 'Poll the import until `undo.status` is `done`.',
    errors: { conflict: 'The import has not finished, was undone before, or finished more than 7 days ago.' },
  },
  inspectImportFile: {
    details: 'Use the returned `mapping` as the starting point of the mapping for the import.',
    errors: { validation_failed: 'The file is not CSV, or not UTF-8.' },
  },
  importContacts: {
    details: 'An organization can have ten imports in progress. Larger lists: split the file.',
    errors: {
      conflict: 'Ten imports are in progress.',
      not_found: 'The group does not exist.',
      payload_too_large: 'The file exceeds 512 MiB.',
      unsupported_media_type: 'The `Content-Type` is not `text/csv`.',
      validation_failed: 'The mapping or another parameter is invalid.',
    },
  },

  listGroups: { details: 'All groups, in one response. An organization can have 1,000.' },
  createGroup: {
    details: 'Names are unique within the organization.',
    errors: { conflict: 'A group with this name exists, or the organization has 1,000 groups.' },
  },
  getGroup: { details: '`member_count` includes unsubscribed and suppressed contacts.' },
  updateGroup: {
    details: 'Membership does not change.',
    errors: { conflict: 'Another group has this name.' },
  },
  deleteGroup: {
    details: 'This cannot be undone.',
    errors: { conflict: 'The filter of a segment names the group.' },
  },
  addContactsToGroup: {
    details:
      '1 to 1,000 contacts. A contact that was only ever created by a send becomes subscribed. `added` counts the contacts that were not in the group yet.',
    errors: { not_found: 'The group or one of the contacts does not exist. `error.fields` names the contacts.' },
  },
  removeContactFromGroup: {
    details: 'The contact itself and its subscription do not change.',
    errors: { not_found: 'The group does not exist, or the contact is not in it.' },
  },

  listSegments: { details: 'All segments, in one response. An organization can have 500.' },
  createSegment: {
    details:
      'Conditions are joined by `all` and `any`. Texts are compared without regard to case. Negative operators such as `not_equals` also match contacts without a value. Engagement counts people by default; set `include_machines` to count automated opens and clicks as well.',
    errors: {
      conflict: 'A segment with this name exists, or the organization has 500 segments.',
      validation_failed: 'The filter is invalid, or names a group or flow that does not exist.',
    },
  },
  getSegment: {
    details: 'Count its contacts with `GET …/segments/{id}/count`, and list them with `GET …/contacts?segment_id=`.',
  },
  countSegment: { details: 'If `exact` is false, counting took too long and `count` is an estimate from a sample.' },
  updateSegment: {
    errors: {
      conflict: 'Another segment has this name.',
      precondition_failed: 'The record was edited since the version in `If-Match`. Nothing was changed.',
    },
  },
  deleteSegment: { details: 'This cannot be undone.' },

  suppressAddresses: {
    details: 'Suppressing an address twice has no effect. Lists of more than 5,000 addresses: split them.',
    errors: { validation_failed: 'The list is empty, or has too many addresses.' },
  },
  listSuppressions: { details: 'An address can have several suppressions with different reasons.' },
  createSuppression: {
    details: 'Suppressing an address again changes nothing. The address does not need to be a contact.',
  },
  deleteSuppression: {
    details:
      'Only remove a suppression for a hard bounce or a complaint if you know that the address works and its owner wants your email.',
    errors: { not_found: 'The address is not suppressed.' },
  },
}
