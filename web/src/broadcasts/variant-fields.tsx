import { Button, Fieldset, Group, NumberInput, Radio, Select, Stack, Switch, Text, TextInput } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { fieldProblem } from '../api/api-error.ts'
import { versionsQuery } from '../flows/flows.api.ts'
import { ErrorLine } from '../ui/states.tsx'
import type { FieldsProps } from './audience-fields.tsx'
import { type Draft, type DraftVariant, firstVariants, newVariant, variantKeys } from './draft.ts'
import { DurationSelect } from './duration-select.tsx'

const contents = [
  { value: 'flow', label: 'The flow as it is' },
  { value: 'subject', label: 'Another subject' },
  { value: 'version', label: 'Another version of the flow' },
]
const waits = [
  { value: '3600', label: '1 hour' },
  { value: '7200', label: '2 hours' },
  { value: '14400', label: '4 hours' },
  { value: '43200', label: '12 hours' },
  { value: '86400', label: '1 day' },
]
const rules = [
  { value: 'clicks', label: 'Highest click rate' },
  { value: 'opens', label: 'Highest open rate' },
  { value: 'manual', label: 'You choose it' },
]

/** Switches the A/B test on, and edits its variants and how the winner is found. `children` are shown below the variants. */
export function VariantFields({ draft, set, error, children }: FieldsProps & { children: ReactNode }) {
  const { variants } = draft
  const isTest = variants.length > 0
  const change = (at: number, changes: Partial<DraftVariant>) =>
    set({ variants: variants.map((variant, index) => (index === at ? { ...variant, ...changes } : variant)) })
  return (
    <Stack gap="md">
      <Switch
        label="Compare variants"
        description="Send each variant to a sample, then the winner to everyone else."
        checked={isTest}
        onChange={(event) => set({ variants: event.currentTarget.checked ? firstVariants : [] })}
      />
      {variants.map((variant, at) => (
        <OneVariant
          // biome-ignore lint/suspicious/noArrayIndexKey: a variant is named by its position.
          key={at}
          at={at}
          flowId={draft.flowId}
          variant={variant}
          change={(changes) => change(at, changes)}
          remove={variants.length > 2 ? () => set({ variants: withoutVariant(variants, at) }) : undefined}
          error={error}
        />
      ))}
      {isTest && (
        <>
          <ErrorLine>{fieldProblem(error, 'variants')}</ErrorLine>
          {variants.length < variantKeys.length && (
            <Group>
              <Button
                variant="default"
                leftSection={<IconPlus size={16} aria-hidden />}
                onClick={() => set({ variants: evenly([...variants, newVariant]) })}
              >
                Add variant
              </Button>
            </Group>
          )}
          {children}
          <SampleFields draft={draft} set={set} error={error} />
        </>
      )}
    </Stack>
  )
}

/** Equal shares, with the remainder for the first. */
function evenly(variants: DraftVariant[]): DraftVariant[] {
  const share = Math.floor(100 / variants.length)
  return variants.map((variant, at) => ({ ...variant, share: at === 0 ? 100 - share * (variants.length - 1) : share }))
}

const withoutVariant = (variants: DraftVariant[], at: number) => evenly(variants.filter((_, index) => index !== at))

type OneProps = {
  at: number
  flowId: string | null
  variant: DraftVariant
  change: (changes: Partial<DraftVariant>) => void
  remove: (() => void) | undefined
  error: unknown
}

function OneVariant({ at, flowId, variant, change, remove, error }: OneProps) {
  const versions = useQuery({
    ...versionsQuery(flowId ?? ''),
    enabled: flowId !== null && variant.content === 'version',
  })
  const choices = versions.data?.map(({ version, subject }) => ({
    value: String(version),
    label: `Version ${version}: ${subject}`,
  }))
  const path = `variants.${at}`
  return (
    <Fieldset legend={`Variant ${variantKeys[at]}`}>
      <Stack gap="sm">
        <Group align="flex-start" gap="sm" grow preventGrowOverflow={false}>
          <Select
            label="Content"
            data={contents}
            allowDeselect={false}
            value={variant.content}
            onChange={(value) => value && change({ content: value as DraftVariant['content'] })}
            error={fieldProblem(error, path)}
          />
          <NumberInput
            label="Share of the sample"
            suffix=" %"
            min={1}
            max={99}
            allowDecimal={false}
            value={variant.share}
            onChange={(value) => change({ share: typeof value === 'number' ? value : '' })}
            error={fieldProblem(error, `${path}.share`)}
          />
        </Group>
        {variant.content === 'subject' && (
          <TextInput
            label="Subject"
            description="Replaces the subject of the flow. You can use variables, e.g. {{ contact.first_name }}."
            required
            value={variant.subject}
            onChange={(event) => change({ subject: event.currentTarget.value })}
            error={fieldProblem(error, `${path}.subject`)}
          />
        )}
        {variant.content === 'version' && (
          <Select
            label="Version"
            placeholder={flowId === null ? 'Choose a flow first' : 'Choose a version'}
            required
            searchable
            data={choices ?? []}
            value={variant.version}
            onChange={(version) => change({ version })}
            error={fieldProblem(error, `${path}.flow_version`)}
          />
        )}
        {remove && (
          <Group>
            <Button variant="subtle" size="compact-sm" onClick={remove}>
              {`Remove variant ${variantKeys[at]}`}
            </Button>
          </Group>
        )}
      </Stack>
    </Fieldset>
  )
}

function SampleFields({ draft, set, error }: FieldsProps) {
  const isSample = draft.testPercent !== 100
  return (
    <>
      <Radio.Group
        label="Who gets the variants"
        value={isSample ? 'sample' : 'all'}
        onChange={(value) => set({ testPercent: value === 'all' ? 100 : 20 })}
      >
        <Stack gap="xs" mt={6}>
          <Radio value="sample" label="A sample" description="The other recipients get the winner later." />
          <Radio value="all" label="Everybody" description="There is no winner, only a comparison." />
        </Stack>
      </Radio.Group>
      {isSample && (
        <>
          <Group align="flex-start" gap="sm" grow preventGrowOverflow={false}>
            <NumberInput
              label="Size of the sample"
              description="Of all recipients."
              suffix=" %"
              min={1}
              max={99}
              allowDecimal={false}
              value={draft.testPercent}
              onChange={(value) => set({ testPercent: typeof value === 'number' ? value : '' })}
              error={fieldProblem(error, 'test_percent')}
            />
            <Select
              label="Winner"
              description="Automated opens and clicks are ignored."
              data={rules}
              allowDeselect={false}
              value={draft.winnerBy}
              onChange={(value) => value && set({ winnerBy: value as Draft['winnerBy'] })}
              error={fieldProblem(error, 'winner_by')}
            />
          </Group>
          {draft.winnerBy !== 'manual' && (
            <DurationSelect
              label="Pick the winner after"
              description="Counted from the last email of the sample. You can pick it earlier yourself."
              durations={waits}
              value={draft.decideAfter}
              onChange={(decideAfter) => set({ decideAfter })}
              error={fieldProblem(error, 'decide_after_seconds')}
            />
          )}
          <Text size="xs" c="dimmed">
            Samples under a few hundred people rarely show a reliable winner. In case of a tie, variant A wins.
          </Text>
        </>
      )}
    </>
  )
}
