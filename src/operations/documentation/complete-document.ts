import { rolePermissions } from '../../accounts/accounts.ts'
import { errorComponents, errorResponses, problemSchema } from '../../platform/http/common-errors.ts'
import { referenceText } from '../../platform/http/reference-texts.ts'
import type { OperationErrors } from '../../platform/http/server.ts'
import { tagGroups, tags } from '../../platform/http/tag-list.ts'
import { type ApiDocument, type Operation, operationsOf } from '../../platform/http/types.ts'
import { type RefusalType, statusOf } from '../../platform/values/errors.ts'
import { nameSchemas, removeUnusedResponses } from './components.ts'
import { describeOperation } from './descriptions.ts'
import { anyWebhookEvent, webhookEvents } from './webhook-events.ts'

/** Completes the document that was generated from the schemas of the routes: introduction, descriptions and errors. */
export function completeDocument(generated: ApiDocument): ApiDocument {
  const document = structuredClone(generated)
  document.info.description = referenceText('introduction.md')
  document.tags = tags
  document['x-tagGroups'] = tagGroups
  document.webhooks = webhookEvents()
  document.components.schemas.Problem = problemSchema
  document.components.schemas.WebhookEvent = anyWebhookEvent
  document.components.responses = { ...errorComponents }
  const editable = new Set(
    operationsOf(document).flatMap(({ operation: { operationId, 'x-errors': errors } }) =>
      errors?.precondition_failed ? [operationId] : [],
    ),
  )
  for (const { method, path, operation } of operationsOf(document)) {
    completeOperation(method, path, operation)
    // Records that can be edited with `If-Match` have a tag when they are read and when they are edited.
    const isTagged = editable.has(operation.operationId.replace(/^get/, 'update'))
    if (isTagged) operation.responses[200]!.headers = { ETag: tagHeader }
  }
  nameSchemas(document)
  document.components.schemas.EventType!.properties = {
    ...(document.components.schemas.EventType!.properties as object),
    example: { $ref: '#/components/schemas/WebhookEvent' },
  }
  removeUnusedResponses(document)
  return document
}

function completeOperation(method: string, path: string, operation: Operation): void {
  const { 'x-errors': errors = {} } = operation
  delete operation['x-errors']
  const { '4XX': _clientErrors, '5XX': _serverErrors, ...successes } = operation.responses
  describeOperation(path, operation)
  operation.description = descriptionOf(operation, errors)
  operation.responses = {
    ...successes,
    ...errorResponses(operation, errors, method === 'GET' && path.includes('/api/v1/')),
  }
  // A body that can be null can be omitted.
  const body = operation.requestBody?.content['application/json']?.schema
  if ([body?.type].flat().includes('null')) operation.requestBody!.required = false
  for (const parameter of operation.parameters ?? [])
    if (parameter.name === 'idempotency-key') parameter.schema = { ...parameter.schema, ...idempotencyKeyLimits }
  if (errors.precondition_failed) operation.parameters = [...(operation.parameters ?? []), ifMatch]
}

/** Not in the schemas of routes: a key that is not valid has an error of its own. */
const idempotencyKeyLimits = { minLength: 1, maxLength: 255, pattern: '^[!-~]+$' }

const ifMatch = {
  name: 'If-Match',
  in: 'header',
  required: false,
  description: 'The `ETag` of the record when you read it. If it was edited since then, the response is 412.',
  schema: { type: 'string' },
}
const tagHeader = { description: 'Identifies this state of the record, for `If-Match`.', schema: { type: 'string' } }

function descriptionOf(operation: Operation, errors: OperationErrors): string {
  const rows = (Object.entries(errors) as [RefusalType, string][]).map(
    ([type, when]) => `- **${statusOf[type]}** \`${type}\`: ${when}`,
  )
  const parts = [operation.description, permissionOf(operation), rows.length > 0 && `**Errors**\n\n${rows.join('\n')}`]
  return parts.filter(Boolean).join('\n\n')
}

function permissionOf(operation: Operation): string {
  const { 'x-permission': permission = '', 'x-scope': scope, security = [] } = operation
  const ofMembers: ReadonlySet<string> = rolePermissions.member
  if (permission === 'public') return '**Permission**: none, the operation is public.'
  const byKey = scope ? `an API key with the scope \`${scope}\`` : 'any valid API key'
  const accepts = (scheme: string) => security.some((each) => scheme in each)
  if (!accepts('session')) return `**Permission**: ${byKey}.`
  if (permission.startsWith('installation:'))
    return '**Permission**: owners of the organization that operates this installation.'
  if (permission === 'broadcasts:send')
    return `**Permission**: owners, members who may start broadcasts, or ${byKey} that one of them created.`
  if (!ofMembers.has(permission)) return '**Permission**: owners of the organization.'
  if (accepts('apiKey')) return `**Permission**: any member, or ${byKey}.`
  const ofInstallation = operation['x-installation-permission']
    ? '; for what belongs to the whole installation, owners of the organization that operates it'
    : ''
  return `**Permission**: any member of the organization${ofInstallation}.`
}
