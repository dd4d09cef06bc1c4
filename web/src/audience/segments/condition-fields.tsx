import { ActionIcon, Autocomplete, Button, Checkbox, NumberInput, Select, Text, TextInput } from '@mantine/core'
import { IconX } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { broadcastQuery, startedBroadcastsQuery } from '../../broadcasts/broadcasts.api.ts'
import { FlowSelect } from '../../content/flows/flow-select.tsx'
import { optionsOf } from '../../ui/filters.tsx'
import { RecordSelect } from '../../ui/record-select.tsx'
import { contactStatusOptions } from '../contacts/contact-status.tsx'
import { groupsQuery } from '../contacts/contacts.api.ts'
import classes from './filter-builder.module.css'
import { type DraftCondition, type Subject, typeOf, withSubject } from './filter-draft.ts'
import {
  eventTerms,
  fieldLabels,
  isEvent,
  needsDays,
  needsNoValue,
  operatorLabels,
  type ValueType,
  valueTypes,
} from './filter-terms.ts'
import { attributesQuery, segmentsQuery } from './segments.api.ts'

const subjects = [
  {
    group: 'Contact',
    items: [
      ...Object.entries(fieldLabels).map(([value, label]) => ({ value, label })),
      { value: 'attribute', label: 'Attribute' },
    ],
  },
  {
    group: 'Activity',
    items: Object.entries(eventTerms).flatMap(([event, { did, did_not }]) => [
      { value: `did ${event}`, label: did },
      { value: `did_not ${event}`, label: did_not },
    ]),
  },
]

/** An option for activity stands for its event and its operator, so that the row reads as a sentence. */
const optionOf = ({ subject, operator }: DraftCondition) => (isEvent(subject) ? `${operator} ${subject}` : subject)

function withOption(condition: DraftCondition, option: string): DraftCondition {
  const [operator, event] = option.split(' ')
  return event
    ? withSubject(condition, { subject: event as Subject, operator: operator! })
    : withSubject(condition, { subject: option as Subject })
}

type Props = {
  condition: DraftCondition
  label: string
  onChange: (condition: DraftCondition) => void
  onRemove: (() => void) | undefined
}

/** The inputs of one condition: what is tested, how, and with which value. */
export function ConditionFields({ condition, label, onChange, onRemove }: Props) {
  const type = typeOf(condition)
  const set = (change: Partial<DraftCondition>) => onChange({ ...condition, ...change })
  return (
    <fieldset aria-label={label} className={classes.condition}>
      <Select
        className={classes.subject ?? ''}
        aria-label="Field"
        searchable
        allowDeselect={false}
        data={subjects}
        value={optionOf(condition)}
        onChange={(value) => value && onChange(withOption(condition, value))}
      />
      {condition.subject === 'attribute' && <AttributeFields condition={condition} onChange={onChange} />}
      {type === 'engagement' ? (
        <EngagementFields condition={condition} set={set} />
      ) : (
        <>
          <Select
            className={classes.operator ?? ''}
            aria-label="Operator"
            allowDeselect={false}
            data={Object.entries(operatorLabels[type]).map(([value, text]) => ({ value, label: text }))}
            value={condition.operator}
            onChange={(value) => value && set({ operator: value })}
          />
          <ValueField condition={condition} set={set} />
        </>
      )}
      {onRemove && (
        <ActionIcon className={classes.remove ?? ''} aria-label={`Remove ${label.toLowerCase()}`} onClick={onRemove}>
          <IconX size={16} aria-hidden />
        </ActionIcon>
      )}
    </fieldset>
  )
}

function AttributeFields({ condition, onChange }: Pick<Props, 'condition' | 'onChange'>) {
  const { data: known } = useQuery(attributesQuery)
  const typedEarly = useRef(false)
  // The name may be typed before the attributes are loaded. Its type follows then.
  useEffect(() => {
    const valueType = known?.get(condition.attribute)
    if (!typedEarly.current || !valueType) return
    typedEarly.current = false
    onChange(withSubject(condition, { valueType }))
  }, [known, condition, onChange])
  return (
    <>
      <Autocomplete
        className={classes.subject ?? ''}
        aria-label="Attribute name"
        placeholder="Attribute name"
        maxLength={200}
        data={[...(known?.keys() ?? [])]}
        value={condition.attribute}
        onChange={(attribute) => {
          const valueType = known?.get(attribute)
          typedEarly.current = known === undefined
          onChange(withSubject(condition, { attribute, ...(valueType && { valueType }) }))
        }}
      />
      <Select
        className={classes.small ?? ''}
        aria-label="Attribute type"
        allowDeselect={false}
        data={valueTypes}
        value={condition.valueType}
        onChange={(value) => value && onChange(withSubject(condition, { valueType: value as ValueType }))}
      />
    </>
  )
}

type FieldProps = { condition: DraftCondition; set: (change: Partial<DraftCondition>) => void }

function ValueField({ condition, set }: FieldProps) {
  const type = typeOf(condition)
  const common = { className: classes.value ?? '', value: condition.value }
  if (needsNoValue(condition.operator) || type === 'boolean') return null
  if (type === 'group' || type === 'segment') return <RecordField type={type} condition={condition} set={set} />
  if (type === 'broadcast') return <BroadcastField condition={condition} set={set} />
  if (type === 'status')
    return (
      <Select
        {...common}
        aria-label="Value"
        placeholder="Choose a status"
        data={contactStatusOptions}
        value={condition.value || null}
        onChange={(value) => set({ value: value ?? '' })}
      />
    )
  if (type === 'date' && needsDays(condition.operator))
    return (
      <>
        <NumberInput
          className={classes.small ?? ''}
          aria-label="Days"
          min={1}
          max={3650}
          allowDecimal={false}
          value={condition.days}
          onChange={(days) => set({ days: String(days) })}
        />
        <Text size="sm">days</Text>
      </>
    )
  return (
    <TextInput
      {...common}
      aria-label="Value"
      placeholder={type === 'list' ? 'Entry' : 'Value'}
      type={type === 'date' ? 'date' : 'text'}
      inputMode={type === 'number' ? 'decimal' : 'text'}
      maxLength={500}
      onChange={(event) => set({ value: event.currentTarget.value })}
    />
  )
}

type RecordType = 'group' | 'segment'

/** Only the records of the type are loaded. */
function useRecords(type: RecordType): { id: string; name: string }[] | undefined {
  const groups = useQuery({ ...groupsQuery, enabled: type === 'group' })
  const segments = useQuery({ ...segmentsQuery, enabled: type === 'segment' })
  return { group: groups.data, segment: segments.data }[type]
}

function RecordField({ type, condition, set }: FieldProps & { type: RecordType }) {
  return (
    <Select
      className={classes.value ?? ''}
      aria-label="Value"
      placeholder={`Choose a ${type}`}
      searchable
      data={optionsOf(useRecords(type))}
      value={condition.value || null}
      onChange={(value) => set({ value: value ?? '' })}
    />
  )
}

function BroadcastField({ condition, set }: FieldProps) {
  return (
    <RecordSelect
      className={classes.value ?? ''}
      aria-label="Value"
      placeholder="Choose a broadcast"
      plural="sent broadcasts"
      search={startedBroadcastsQuery}
      find={(id) => ({ ...broadcastQuery(id), refetchInterval: false })}
      value={condition.value}
      onChange={(value) => set({ value: value ?? '' })}
    />
  )
}

function EngagementFields({ condition, set }: FieldProps) {
  const isOpenOrClick = condition.subject === 'emailOpen' || condition.subject === 'emailClick'
  const [more, setMore] = useState(condition.atLeast !== '1' || condition.machines)
  return (
    <>
      <FlowSelect
        className={classes.value ?? ''}
        placeholder="any email"
        value={condition.flowId}
        onChange={(value) => set({ flowId: value ?? '' })}
      />
      <Text size="sm">in the last</Text>
      <NumberInput
        className={classes.days ?? ''}
        aria-label="Days"
        placeholder="any"
        min={1}
        max={3650}
        allowDecimal={false}
        value={condition.withinDays}
        onChange={(value) => set({ withinDays: String(value) })}
      />
      <Text size="sm">{condition.withinDays === '1' ? 'day' : 'days'}</Text>
      {more ? (
        <>
          <Text size="sm">at least</Text>
          <NumberInput
            className={classes.days ?? ''}
            aria-label="Times"
            min={1}
            max={1000}
            allowDecimal={false}
            value={condition.atLeast}
            onChange={(value) => set({ atLeast: String(value) })}
          />
          <Text size="sm">{condition.atLeast === '1' ? 'time' : 'times'}</Text>
          {isOpenOrClick && (
            <Checkbox
              label="Include automated"
              checked={condition.machines}
              onChange={(event) => set({ machines: event.currentTarget.checked })}
            />
          )}
        </>
      ) : (
        <Button size="compact-sm" variant="subtle" onClick={() => setMore(true)}>
          More
        </Button>
      )}
    </>
  )
}
