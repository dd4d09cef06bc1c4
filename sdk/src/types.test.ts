import { expectTypeOf, test } from 'vitest'
import type { RefusalType } from '../../src/values/errors.ts'
import type { BounceDetail, EventData } from '../../src/values/event-types.ts'
import type { WebhookEvent } from '../../src/webhooks/envelope.ts'
import type { operations } from '../../web/src/api/schema.d.ts'
import type { EmailAccepted, EmailEventMetric, GroupMembersAdded, TokenCheck } from './client.ts'
import type { WaxwingErrorType } from './errors.ts'
import type { EventContact, EventDataByName } from './events.ts'

// The compiler runs these tests: what the service may send has to be among what the types here promise.

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

test('every answer in the API’s document is one that its method promises', () => {
  expectTypeOf<Answer<'checkToken'>>().toExtend<TokenCheck>()
  expectTypeOf<Answer<'addGroupMembers'>>().toExtend<GroupMembersAdded>()
  expectTypeOf<Answer<'sendEmailThroughFlow'>>().toExtend<EmailAccepted>()
  expectTypeOf<Answer<'getEmailEventMetric'>>().toExtend<EmailEventMetric>()
})

test('every refusal has a type that a caller can ask for', () => {
  expectTypeOf<RefusalType>().toExtend<WaxwingErrorType>()
})

test('every event that the service writes is one that a receiver is told of', () => {
  expectTypeOf<WebhookEvent['contact']['email']>().toExtend<EventContact['email']>()
  expectTypeOf<WebhookEvent['contact']['firstName']>().toExtend<EventContact['first_name']>()
  expectTypeOf<WebhookEvent['eventName']>().toEqualTypeOf<keyof EventDataByName>()
  expectTypeOf<BounceDetail>().toExtend<EventDataByName['emailHardBounce']['bounce']>()
  expectTypeOf<Pick<EventData, 'ip'>>().toExtend<Pick<EventDataByName['emailOpen'], 'ip'>>()
  expectTypeOf<NonNullable<EventData['method']>>().toExtend<EventDataByName['contactUnsubscribe']['method']>()
})
