import { Button, Stack, Text } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { formProblem } from '../../api/api-error.ts'
import { keys, useInvalidate } from '../../api/keys.ts'
import type { Flow, FlowDraft, PreviewedEmail, TemplateProblem } from '../../api/types.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { DialogActions } from '../../ui/dialog-actions.tsx'
import { Notice } from '../../ui/notice.tsx'
import { ErrorLine } from '../../ui/states.tsx'
import { toast } from '../../ui/toast.tsx'
import { EmailCheck } from './email-check.tsx'
import { FlowDifference } from './flow-difference.tsx'
import { flowQuery, publishDraft } from './flows.api.ts'
import { locationOf } from './problems.tsx'

type Props = {
  opened: boolean
  onClose: () => void
  flow: Flow
  stored: FlowDraft | null
  /** Of the draft. */
  preview: PreviewedEmail | undefined
  /** Shows a place in the template. */
  onChoose: (problem: TemplateProblem) => void
}

/** Shows what changes for recipients, and publishes exactly that: if somebody changes it first, publishing is refused. */
export function PublishDialog({ opened, stored, ...props }: Props) {
  return (
    <Dialog
      opened={opened && stored !== null}
      onClose={props.onClose}
      title={props.flow.version === 0 ? 'Publish flow' : 'Publish changes'}
      size="xl"
    >
      {stored && <Publish stored={stored} {...props} />}
    </Dialog>
  )
}

type PublishProps = Omit<Props, 'opened' | 'stored'> & { stored: FlowDraft }

function Publish({ flow, stored, preview, onChoose, onClose }: PublishProps) {
  const queries = useQueryClient()
  const invalidate = useInvalidate()
  const publish = useMutation({
    mutationFn: () => publishDraft(flow.id, { base_version: flow.version, base_revision: stored.revision }),
    onSuccess: async (published) => {
      queries.setQueryData(flowQuery(flow.id).queryKey, published)
      onClose()
      toast(published.version === flow.version ? 'Published.' : `Published as version ${published.version}.`)
      await invalidate(keys.flowLists, keys.flowVersions(flow.id))
    },
    // The flow or its draft may have changed, which is shown before the user tries again.
    onError: () => invalidate(keys.flow(flow.id)),
  })
  const [first] = preview?.problems ?? []
  const mjml = stored.html_format === 'mjml'
  return (
    <Stack gap="md">
      {flow.version === 0 ? (
        <Text>
          <strong>{stored.name}</strong> goes live. Your app and broadcasts can send it.
        </Text>
      ) : (
        <>
          <Text>
            {flow.status === 'active'
              ? 'New sends use these changes at once. Emails already queued keep the version they were queued with.'
              : 'The flow stays inactive. API calls that send it are still rejected.'}
          </Text>
          {stored.base_version < flow.version && (
            <Notice tone="warn" title={`Version ${flow.version} was published after this draft was started`}>
              The draft is based on version {stored.base_version}. Publishing it replaces version {flow.version}.
            </Notice>
          )}
          <FlowDifference before={flow} after={stored} />
        </>
      )}
      {first && (
        <Notice tone="bad" title="Fix the template before publishing">
          {locationOf(first, mjml)}: {first.problem}
        </Notice>
      )}
      {preview && (
        <EmailCheck
          blockers={preview.blockers}
          findings={preview.findings}
          links={preview.links}
          mjml={mjml}
          onChoose={onChoose}
        />
      )}
      <ErrorLine>{formProblem(publish.error, [])}</ErrorLine>
      <DialogActions>
        <Button variant="default" onClick={onClose}>
          Cancel
        </Button>
        <Button loading={publish.isPending} disabled={first !== undefined} onClick={() => publish.mutate()}>
          Publish
        </Button>
      </DialogActions>
    </Stack>
  )
}
