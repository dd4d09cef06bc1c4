import { Type } from 'typebox'
import { Named, Nullable, oneOf, Timestamp } from '../../platform/http/envelope.ts'
import { fieldsIn, outOf } from '../../platform/http/out-of.ts'
import { nameMax } from '../../platform/values/names.ts'
import type { EventExport } from './exports.sql.ts'

// The shapes of exports in requests and responses.

export const EventExportOut = Named('EventExport', {
  id: Type.String(),
  name: Type.String(),
  endpoint: Type.String(),
  region: Type.String(),
  bucket: Type.String(),
  prefix: Type.String(),
  access_key_id: Type.String(),
  status: oneOf('active', 'paused'),
  paused_reason: Nullable(Type.String()),
  last_file: Nullable(Type.String({ description: 'The key of the last file in the bucket.' })),
  last_exported_at: Nullable(Timestamp),
  exported_events: Type.Integer({ description: 'Events in all files together.' }),
  failing_since: Nullable({ ...Timestamp, description: 'Since when every upload has failed.' }),
  last_error: Nullable(Type.String({ description: 'Why the last upload failed, or events are missing.' })),
  created_at: Timestamp,
  updated_at: Timestamp,
})

const keyPattern = '^[\\x21-\\x7e]+$'
const fields = {
  name: Type.String({ minLength: 1, maxLength: nameMax, description: 'A label.' }),
  endpoint: Type.String({
    maxLength: 2048,
    description: 'The address of the storage without the bucket, such as `https://s3.eu-central-1.amazonaws.com`.',
  }),
  region: Type.String({
    minLength: 1,
    maxLength: 64,
    pattern: '^[a-z0-9-]+$',
    description: 'The region, such as `eu-central-1`. Storage without regions usually expects `us-east-1` or `auto`.',
  }),
  bucket: Type.String({
    minLength: 3,
    maxLength: 63,
    pattern: '^[a-z0-9][a-z0-9.-]*[a-z0-9]$',
    description: 'The name of the bucket.',
  }),
  prefix: Type.Optional(
    Type.String({
      maxLength: 200,
      pattern: '^[A-Za-z0-9_.=/-]*$',
      description: 'A folder in the bucket, such as `waxwing/events`.',
    }),
  ),
  access_key_id: Type.String({
    minLength: 1,
    maxLength: 256,
    pattern: keyPattern,
    description: 'The access key id. It needs permission to put objects.',
  }),
  secret_access_key: Type.String({
    minLength: 1,
    maxLength: 1024,
    pattern: keyPattern,
    description: 'The secret access key. Stored encrypted, and never returned.',
  }),
}

export const EventExportIn = Type.Object({
  ...fields,
  start: Type.Optional(
    Type.Unsafe<'oldest' | 'now'>({
      ...oneOf('oldest', 'now'),
      default: 'oldest',
      description: 'Begins with the oldest event that is kept, or with the next one.',
    }),
  ),
})
export const EventExportChangesIn = Type.Partial(
  Type.Object({ ...fields, status: { ...oneOf('active', 'paused'), description: 'Pauses or resumes the export.' } }),
)
export const toInput = fieldsIn(EventExportIn)
export const toChanges = fieldsIn(EventExportChangesIn)
const toOut = outOf(EventExportOut, { id: 'exp' }, {})
export const eventExportOut = (record: EventExport) => toOut(record)
