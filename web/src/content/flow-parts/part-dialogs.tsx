import { Anchor, Button, Group, Stack, Text, Textarea, TextInput } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Link } from 'react-router'
import { messageOf } from '../../api/api-error.ts'
import { keys, useInvalidate } from '../../api/keys.ts'
import type { FlowPart, FlowPartSummary } from '../../api/types.ts'
import { paths } from '../../paths.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { DialogForm, useRequestForm } from '../../ui/form.tsx'
import { Notice } from '../../ui/notice.tsx'
import { ErrorLine, Load } from '../../ui/states.tsx'
import { toast } from '../../ui/toast.tsx'
import { rebuildFlow } from '../flows/flows.api.ts'
import { changeFlowPart, createFlowPart, flowPartQuery } from './flow-parts.api.ts'

const code = {
  autosize: true,
  minRows: 8,
  maxRows: 18,
  spellCheck: false,
  styles: { input: { fontFamily: 'monospace' } },
}
const namePattern = /^[a-z][a-z0-9_-]*$/
const example = `<mj-section>
  <mj-column>
    <mj-text align="center" font-size="13px" color="#667085">
      {{ brand.name }}
    </mj-text>
  </mj-column>
</mj-section>
`

export function NewPartDialog({ onClose }: { onClose: () => void }) {
  const invalidate = useInvalidate()
  const form = useRequestForm({
    initialValues: { name: '', html: example },
    validate: ({ name }) => ({
      name: namePattern.test(name.trim())
        ? undefined
        : 'Use lower-case letters, digits, - and _, and start with a letter.',
    }),
    send: ({ name, html }) => createFlowPart({ name: name.trim(), html }),
    onSuccess: () => invalidate(keys.flowParts),
    onSaved: onClose,
  })
  return (
    <Dialog opened onClose={onClose} title="Create part" size="xl">
      <DialogForm form={form} action="Create part" disabled={form.values.name.trim() === ''} onCancel={onClose}>
        <TextInput
          label="Name"
          description="Lower-case letters, digits, - and _. It can’t be changed later."
          placeholder="footer"
          required
          data-autofocus
          maxLength={50}
          {...form.field('name')}
        />
        <Textarea label="MJML or HTML" required {...code} {...form.field('html')} />
      </DialogForm>
    </Dialog>
  )
}

/** Stays open after a change if published flows include the part. Links open in a new tab, which keeps what was typed. */
export function EditPartDialog({ part, onClose }: { part: FlowPartSummary; onClose: () => void }) {
  const details = useQuery(flowPartQuery(part.id))
  const [isSaved, setSaved] = useState(false)
  return (
    <Dialog opened onClose={onClose} saved={isSaved} title={part.name} size="xl">
      <Load query={details}>
        {({ html, flows }) => (
          <Stack gap="sm">
            {flows.length > 0 && (
              <Group gap={6}>
                <Text size="sm">Included in:</Text>
                {flows.map(({ id, name }) => (
                  <Anchor key={id} size="sm" component={Link} to={paths.flowTab(id, 'edit')} target="_blank">
                    {name}
                  </Anchor>
                ))}
              </Group>
            )}
            {isSaved ? (
              <PublishAgain flows={flows} onDone={onClose} />
            ) : (
              <EditPart
                id={part.id}
                html={html}
                onCancel={onClose}
                onSaved={() => (flows.length > 0 ? setSaved(true) : onClose())}
              />
            )}
          </Stack>
        )}
      </Load>
    </Dialog>
  )
}

type EditProps = Pick<FlowPart, 'id' | 'html'> & { onCancel: () => void; onSaved: () => void }

function EditPart({ id, html: initial, onCancel, onSaved }: EditProps) {
  const invalidate = useInvalidate()
  const form = useRequestForm({
    initialValues: { html: initial },
    send: ({ html }) => changeFlowPart(id, html),
    onSuccess: () => invalidate(keys.flowParts, keys.flowPreviews),
    onSaved,
  })
  return (
    <DialogForm form={form} action="Save" onCancel={onCancel}>
      <Textarea label="MJML or HTML" required {...code} {...form.field('html')} />
    </DialogForm>
  )
}

function PublishAgain({ flows, onDone }: { flows: readonly { id: string }[]; onDone: () => void }) {
  const invalidate = useInvalidate()
  const publish = useMutation({
    mutationFn: async () => {
      for (const { id } of flows) await rebuildFlow(id)
    },
    onSuccess: () => {
      toast('Published with the new part.')
      onDone()
    },
    onSettled: () => invalidate(keys.flows),
  })
  return (
    <>
      <Notice tone="info" title="Saved">
        <Text>Published flows keep the previous text. Publish them again, unchanged, to send the new one.</Text>
        <Button mt="sm" size="xs" loading={publish.isPending} onClick={() => publish.mutate()}>
          Publish again
        </Button>
      </Notice>
      {publish.error && <ErrorLine>{messageOf(publish.error)}</ErrorLine>}
    </>
  )
}
