import { Checkbox } from '@mantine/core'
import type { Flow, Variable } from '../api/types.ts'
import { kindLabels } from '../content/flows/flow-status.tsx'
import { flowChoicesQuery, flowNameQuery } from '../content/flows/flows.api.ts'
import { Notice } from '../ui/notice.tsx'
import { RecordSelect } from '../ui/record-select.tsx'
import type { DraftForm } from './draft-form.ts'

type Props = { form: DraftForm; flow: Flow | undefined; variables: Variable[] }

/** The flow, and whether a transactional one is a service announcement. */
export function FlowFields({ form, flow, variables }: Props) {
  const { values: draft, set } = form
  const { error } = form.field('flow_id')
  const isOfFlow = ([name]: [string, string]) => variables.some((variable) => variable.name === name)
  const isTransactional = flow?.kind === 'transactional'
  return (
    <>
      <RecordSelect
        label="Flow"
        plural="active flows"
        search={(text) => flowChoicesQuery(text, { status: 'active' })}
        find={flowNameQuery}
        groupOf={({ kind }) => kindLabels[kind]}
        description={
          flow
            ? `${kindLabels[flow.kind]} flow. Sends the version that is live when it starts.`
            : 'Sends the version that is live when it starts.'
        }
        placeholder="Choose a flow"
        required
        value={draft.flow_id}
        onChange={(flow_id) =>
          set({
            flow_id,
            service_announcement: false,
            context: Object.fromEntries(Object.entries(draft.context).filter((entry) => !isOfFlow(entry))),
            variants: draft.variants.map((variant) => ({ ...variant, flow_version: null })),
          })
        }
        error={!isTransactional && error}
      />
      {isTransactional && (
        <Notice tone="bad" title="This flow is transactional">
          It also reaches people who unsubscribed, and has no unsubscribe link. Send it to many only as a service
          announcement, such as a change of terms or a security notice. For news and offers, choose a marketing flow.
          <Checkbox
            mt="xs"
            label="This is a service announcement"
            {...form.field('service_announcement', { type: 'checkbox' })}
            error={error && !draft.service_announcement && 'Confirm this, or choose a marketing flow.'}
          />
        </Notice>
      )}
    </>
  )
}
