import { Button, Group, Text, Textarea } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { keys, useInvalidate } from '../../api/keys.ts'
import type { Domain, WarmUp } from '../../api/types.ts'
import { GuideLink } from '../../ui/api-reference.tsx'
import { ConfirmButton } from '../../ui/confirm.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Facts } from '../../ui/facts.tsx'
import { DialogForm, useRequestForm } from '../../ui/form.tsx'
import { Section } from '../../ui/section.tsx'
import { Load } from '../../ui/states.tsx'
import { toast } from '../../ui/toast.tsx'
import { endWarmUp, setWarmUp, warmUpQuery } from './domains.api.ts'
import { WarmUpChart } from './warm-up-chart.tsx'

/** The plan that limits email of a new domain. */
export function WarmUpSection({ domain }: { domain: Domain }) {
  const warmUp = useQuery(warmUpQuery(domain.id))
  const [editing, setEditing] = useState(false)
  return (
    <Section
      title="Warm-up"
      description={
        <>
          Sends a little more marketing email each day, until receivers know a new domain. Transactional email is never
          delayed. See the <GuideLink name="limits">guide to limits</GuideLink>.
        </>
      }
    >
      <Load query={warmUp}>
        {(state) =>
          state ? (
            <RunningPlan domain={domain} state={state} onEdit={() => setEditing(true)} />
          ) : (
            <Button variant="default" onClick={() => setEditing(true)}>
              Start warm-up
            </Button>
          )
        }
      </Load>
      {editing && <PlanDialog domain={domain} state={warmUp.data} onClose={() => setEditing(false)} />}
    </Section>
  )
}

function RunningPlan({ domain, state, onEdit }: { domain: Domain; state: WarmUp; onEdit: () => void }) {
  const invalidate = useInvalidate()
  const end = async () => {
    await endWarmUp(domain.id)
    await invalidate(keys.domains)
    toast('Warm-up ended.')
  }
  const isOver = state.messages_per_day === null
  return (
    <>
      <Facts
        facts={[
          ['Day', isOver ? 'The plan has ended' : `${state.day} of ${state.plan.length} on which it sends`],
          [
            'Today',
            `${state.sent_today.toLocaleString('en')} of ${state.messages_per_day?.toLocaleString('en') ?? 'any number'}`,
          ],
        ]}
      />
      <WarmUpChart state={state} />
      <Group gap="xs" mt="sm">
        <Button variant="default" onClick={onEdit}>
          Change plan
        </Button>
        <ConfirmButton
          variant="default"
          confirm={{
            title: 'End the warm-up',
            children: `Marketing email from ${domain.name} is no longer limited, and a later plan begins at its first day.`,
            action: 'End warm-up',
            run: end,
          }}
        >
          End warm-up
        </ConfirmButton>
      </Group>
    </>
  )
}

const usualPlan = [50, 100, 200, 400, 800, 1_500, 3_000, 6_000, 12_000, 25_000, 50_000, 100_000]
const planText = (plan: readonly number[]) => plan.join(', ')

type DialogProps = { domain: Domain; state: WarmUp | null | undefined; onClose: () => void }

function PlanDialog({ domain, state, onClose }: DialogProps) {
  const invalidate = useInvalidate()
  const form = useRequestForm({
    initialValues: { plan: planText(state?.plan ?? usualPlan) },
    validate: ({ plan }) => ({
      plan: isPlan(numbersOf(plan)) ? undefined : 'Enter whole numbers, separated by commas.',
    }),
    send: ({ plan }) => setWarmUp(domain.id, numbersOf(plan)),
    onSuccess: async () => {
      await invalidate(keys.domains)
      onClose()
      toast('Warm-up plan saved.')
    },
  })
  const plan = numbersOf(form.values.plan)
  return (
    <Dialog opened onClose={onClose} title="Warm-up plan">
      <DialogForm form={form} action="Save" onCancel={onClose}>
        <Text size="sm">Days on which the domain sends nothing don’t count. The rest waits until the next day.</Text>
        <Textarea
          label="Emails on the first, second, third… day"
          description="Separated by commas. No limit after the last day."
          autosize
          minRows={2}
          required
          {...form.field('plan')}
        />
        {plan.length > 0 && isPlan(plan) && (
          <WarmUpChart state={{ plan, day: state?.day ?? 1, sent_today: state?.sent_today ?? 0 }} />
        )}
      </DialogForm>
    </Dialog>
  )
}

const isPlan = (plan: readonly number[]) => plan.every((number) => Number.isInteger(number) && number > 0)

const numbersOf = (text: string): number[] =>
  text
    .split(/[\s,]+/)
    .filter((part) => part !== '')
    .map(Number)
