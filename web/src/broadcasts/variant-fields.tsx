import { Button, Fieldset, Group, NumberInput, Radio, Select, Stack, Switch, Text, TextInput } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { versionsQuery } from '../content/flows/flows.api.ts'
import { ErrorLine } from '../ui/states.tsx'
import { type DraftVariant, firstVariants, newVariant, variantKeys } from './draft.ts'
import type { DraftForm } from './draft-form.ts'
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
export function VariantFields({ form, children }: { form: DraftForm; children: ReactNode }) {
  const { field, set } = form
  const { variants } = form.values
  const isTest = variants.length > 0
  return (
    <Stack gap="md">
      <Switch
        label="Compare variants"
        description="Send each variant to a sample, then the winner to everyone else."
        checked={isTest}
        onChange={(event) => set({ variants: event.currentTarget.checked ? firstVariants : [] })}
      />
      {variants.map((_, at) => (
        <OneVariant
          // biome-ignore lint/suspicious/noArrayIndexKey: a variant is named by its position.
          key={at}
          at={at}
          form={form}
          remove={variants.length > 2 ? () => set({ variants: withoutVariant(variants, at) }) : undefined}
        />
      ))}
      {isTest && (
        <>
          <ErrorLine>{field('variants').error}</ErrorLine>
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
          <SampleFields form={form} />
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

type OneProps = { at: number; form: DraftForm; remove: (() => void) | undefined }

function OneVariant({ at, form: { field, values }, remove }: OneProps) {
  const { flow_id: flowId } = values
  const content = values.variants[at]?.content
  const versions = useQuery({
    ...versionsQuery(flowId ?? ''),
    enabled: flowId !== null && content === 'version',
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
            {...field(`${path}.content`)}
            error={field(path).error}
          />
          <NumberInput
            label="Share of the sample"
            suffix=" %"
            min={1}
            max={99}
            allowDecimal={false}
            {...field(`${path}.share`)}
          />
        </Group>
        {content === 'subject' && (
          <TextInput
            label="Subject"
            description="Replaces the subject of the flow. You can use variables, e.g. {{ contact.first_name }}."
            required
            {...field(`${path}.subject`)}
          />
        )}
        {content === 'version' && (
          <Select
            label="Version"
            placeholder={flowId === null ? 'Choose a flow first' : 'Choose a version'}
            required
            searchable
            data={choices ?? []}
            {...field(`${path}.flow_version`)}
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

function SampleFields({ form: { field, set, values } }: { form: DraftForm }) {
  const isSample = values.test_percent !== 100
  return (
    <>
      <Radio.Group
        label="Who gets the variants"
        value={isSample ? 'sample' : 'all'}
        onChange={(value) => set({ test_percent: value === 'all' ? 100 : 20 })}
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
              {...field('test_percent')}
            />
            <Select
              label="Winner"
              description="Automated opens and clicks are ignored."
              data={rules}
              allowDeselect={false}
              {...field('winner_by')}
            />
          </Group>
          {values.winner_by !== 'manual' && (
            <DurationSelect
              label="Pick the winner after"
              description="Counted from the last email of the sample. You can pick it earlier yourself."
              durations={waits}
              {...field('decide_after_seconds')}
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
