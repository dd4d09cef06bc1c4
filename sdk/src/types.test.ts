import { expectTypeOf, test } from 'vitest'
import type { WebhookEvent } from '../../src/events/webhooks/envelope.ts'
import type { RefusalType } from '../../src/platform/values/errors.ts'
import type { BounceDetail, EventData } from '../../src/platform/values/event-types.ts'
import type { EmailAccepted, EmailEventMetric, GroupMembersAdded, TokenCheck } from './client.ts'
import type { WaxwingErrorType } from './errors.ts'
import type { EventContact, EventDataByName } from './events.ts'
import type { operations } from './generated/schema.ts'

// Checked by the compiler: everything the service may send must be covered by the types.

type Answer<Name extends keyof operations> = operations[Name] extends {
  responses: { 200: { content: { 'application/json': { data: infer Data } } } }
}
  ? InCamelCase<Data>
  : never
type InCamelCase<Value> = Value extends readonly (infer Item)[]
  ? InCamelCase<Item>[]
  : Value extends object
    ? { [Key in keyof Value as Camel<Key & string>]: InCamelCase<Value[Key]> }
    : Value
type Camel<Name extends string> = Name extends `${infer Head}_${infer Rest}`
  ? `${Head}${Capitalize<Camel<Rest>>}`
  : Name

test('every response in the OpenAPI document matches the return type of its method', () => {
  expectTypeOf<Answer<'checkToken'>>().toExtend<TokenCheck>()
  expectTypeOf<Answer<'addGroupMembers'>>().toExtend<GroupMembersAdded>()
  expectTypeOf<Answer<'sendEmailThroughFlow'>>().toExtend<EmailAccepted>()
  expectTypeOf<Answer<'getEmailEventMetric'>>().toExtend<EmailEventMetric>()
})

test('every error type of the service is declared', () => {
  expectTypeOf<RefusalType>().toExtend<WaxwingErrorType>()
})

test('every event of the service is declared', () => {
  expectTypeOf<NonNullable<WebhookEvent['contact']>['email']>().toExtend<EventContact['email']>()
  expectTypeOf<NonNullable<WebhookEvent['contact']>['firstName']>().toExtend<EventContact['first_name']>()
  expectTypeOf<WebhookEvent['eventName']>().toEqualTypeOf<keyof EventDataByName>()
  expectTypeOf<BounceDetail>().toExtend<EventDataByName['emailHardBounce']['bounce']>()
  expectTypeOf<Pick<EventData, 'ip'>>().toExtend<Pick<EventDataByName['emailOpen'], 'ip'>>()
  expectTypeOf<NonNullable<EventData['method']>>().toExtend<EventDataByName['contactUnsubscribe']['method']>()
})
