import { type Static, type TProperties, Type } from 'typebox'
import { oneOf } from '../../platform/http/envelope.ts'
import { eventNames } from '../../platform/values/event-types.ts'
import { attributePrefix } from './attribute-fields.ts'
import { broadcastOperators } from './broadcast-recipients.ts'
import { conditionsMax, depthMax, nestedSegmentsMax, resolvedConditionsMax } from './filter-limits.ts'

// A filter is a tree: conditions on contacts, joined by `all` and `any`. The same schema validates requests, describes
// them in the API reference, and gives the types.

const valueMax = 500
const daysMax = 3_650
const occurrencesMax = 1_000

/** The fields of a contact that are texts. Attributes are named `attributes.` and their key. */
export const textFields = ['email', 'email_domain', 'first_name', 'last_name'] as const
const attributeNameMax = 200

const unary = ['is_set', 'is_not_set'] as const
export const operators = {
  text: ['equals', 'not_equals', 'contains', 'not_contains', 'starts_with', 'ends_with', ...unary],
  number: ['equals', 'not_equals', 'greater_than', 'at_least', 'less_than', 'at_most', ...unary],
  date: ['on', 'before', 'after', 'in_last_days', 'not_in_last_days', 'in_next_days', ...unary],
  boolean: ['is_true', 'is_false', ...unary],
  list: ['contains', 'not_contains', 'is_empty', 'is_not_empty'],
} as const

export const contactStatuses = ['subscribed', 'not_subscribed', 'unsubscribed', 'suppressed'] as const
export type ContactStatus = (typeof contactStatuses)[number]

const field = (fields: readonly string[]) =>
  Type.String({
    maxLength: attributePrefix.length + attributeNameMax,
    pattern: `^(${[...fields, `${attributePrefix.replace('.', '\\.')}.+`].join('|')})$`,
    description: [...fields.map((name) => `\`${name}\``), '`attributes.` and the name of an attribute'].join(', '),
  })
const AttributeField = field([])
const TextValue = Type.Optional(Type.String({ minLength: 1, maxLength: valueMax }))

const condition = <Kind extends string, Properties extends TProperties>(
  type: Kind,
  title: string,
  description: string,
  properties: Properties,
) => Type.Object({ type: Type.Literal(type), ...properties }, { title, description })

const Text = condition(
  'text',
  'TextCondition',
  'Compares texts, without regard to case. `value` is required except for `is_set` and `is_not_set`.',
  { field: field(textFields), operator: oneOf(...operators.text), value: TextValue },
)
const NumberCondition = condition(
  'number',
  'NumberCondition',
  'Compares an attribute that is a number, or a text such as `12.5`.',
  { field: AttributeField, operator: oneOf(...operators.number), value: Type.Optional(Type.Number()) },
)
const DateCondition = condition(
  'date',
  'DateCondition',
  'Compares days. `on`, `before` and `after` need `value`; `in_last_days`, `not_in_last_days` and `in_next_days` need `days`. An attribute is a date if it starts with one, as in `2026-03-02` or `2026-03-02T10:00:00Z`.',
  {
    field: field(['created_at']),
    operator: oneOf(...operators.date),
    value: Type.Optional(Type.String({ pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2}$', description: 'A day: `2026-03-02`.' })),
    days: Type.Optional(Type.Integer({ minimum: 1, maximum: daysMax })),
  },
)
const BooleanCondition = condition(
  'boolean',
  'BooleanCondition',
  'Tests an attribute that is a boolean, or one of the texts true, yes, 1, false, no and 0.',
  { field: AttributeField, operator: oneOf(...operators.boolean) },
)
const List = condition(
  'list',
  'ListCondition',
  'Tests an attribute that is a list, or a text of entries separated by commas.',
  { field: AttributeField, operator: oneOf(...operators.list), value: TextValue },
)
const Group = condition('group', 'GroupCondition', 'Tests whether the contact is in a group.', {
  operator: oneOf('member', 'not_member'),
  group_id: Type.String(),
})
const Status = condition('status', 'StatusCondition', 'Compares the `status` of the contact.', {
  operator: oneOf('is', 'is_not'),
  value: oneOf(...contactStatuses),
})
const Engagement = condition(
  'engagement',
  'EngagementCondition',
  'Tests whether there are events of the contact, among those that are still stored.',
  {
    operator: oneOf('did', 'did_not'),
    event: oneOf(...eventNames),
    at_least: Type.Optional(
      Type.Integer({ minimum: 1, maximum: occurrencesMax, description: 'How many events. Defaults to 1.' }),
    ),
    within_days: Type.Optional(
      Type.Integer({ minimum: 1, maximum: daysMax, description: 'Only events of the last days.' }),
    ),
    flow_id: Type.Optional(Type.String({ description: 'Only events of emails of this flow.' })),
    include_machines: Type.Optional(
      Type.Boolean({
        description: 'Also counts automated opens and clicks, by scanners and privacy proxies. Defaults to false.',
      }),
    ),
  },
)
const Broadcast = condition(
  'broadcast',
  'BroadcastCondition',
  'Tests what a recipient of a broadcast did. `received`: the email was delivered. `opened` and `clicked`: by a person, automated ones do not count. `not_opened`: it was delivered, and neither opened nor clicked.',
  { operator: oneOf(...broadcastOperators), broadcast_id: Type.String() },
)
const Segment = condition(
  'segment',
  'SegmentCondition',
  `Tests whether the contact is in another segment. Segments can be nested up to ${nestedSegmentsMax} levels deep, with at most ${resolvedConditionsMax} conditions in all of them together.`,
  { operator: oneOf('member', 'not_member'), segment_id: Type.String() },
)

type Combination<Type extends 'all' | 'any'> = { type: Type; conditions: Filter[] }
export type TextCondition = Static<typeof Text>
export type NumberCondition = Static<typeof NumberCondition>
export type DateCondition = Static<typeof DateCondition>
export type BooleanCondition = Static<typeof BooleanCondition>
export type ListCondition = Static<typeof List>
export type EngagementCondition = Static<typeof Engagement>
export type BroadcastCondition = Static<typeof Broadcast>
export type SegmentCondition = Static<typeof Segment>
export type Condition =
  | TextCondition
  | NumberCondition
  | DateCondition
  | BooleanCondition
  | ListCondition
  | Static<typeof Group>
  | Static<typeof Status>
  | EngagementCondition
  | BroadcastCondition
  | SegmentCondition
export type Filter = Combination<'all'> | Combination<'any'> | Condition

const filterId = 'ContactFilter'
const combination = (type: 'all' | 'any', title: string, description: string) => ({
  type: 'object',
  title,
  description,
  required: ['type', 'conditions'],
  properties: {
    type: { const: type, type: 'string' },
    conditions: { type: 'array', minItems: 1, maxItems: conditionsMax, items: { $ref: `${filterId}#` } },
  },
})

/** Registered with the server, which resolves references to it. */
export const FilterSchema = {
  $id: filterId,
  type: 'object',
  description: `A filter of contacts: at most ${conditionsMax} conditions, nested up to ${depthMax} levels deep.`,
  required: ['type'],
  discriminator: { propertyName: 'type' },
  oneOf: [
    combination('all', 'AllCondition', 'Contacts that match all of the conditions.'),
    combination('any', 'AnyCondition', 'Contacts that match at least one of the conditions.'),
    Text,
    NumberCondition,
    DateCondition,
    BooleanCondition,
    List,
    Group,
    Status,
    Engagement,
    Broadcast,
    Segment,
  ],
}

/** A filter in the body of a request or response. */
export const FilterRef = Type.Unsafe<Filter>({ $ref: `${filterId}#` })
