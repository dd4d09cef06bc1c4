import { Select, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { BulkAction } from '../../api/types.ts'
import { Confirm } from '../../ui/confirm.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { optionsOf } from '../../ui/filters.tsx'
import { DialogForm, useRequestForm } from '../../ui/form.tsx'
import { type Selection, startBulkAction } from './bulk.api.ts'
import { groupsQuery } from './contacts.api.ts'

type Action = BulkAction['action']
type Props = {
  action: Action
  selection: Selection
  /** “5 contacts” */
  contacts: string
  onClose: () => void
  onStarted: (id: string) => void
}

const explanations: Record<Exclude<Action, 'add_to_group' | 'remove_from_group'>, string> = {
  unsubscribe: 'will no longer receive marketing email. Each is recorded as an unsubscription.',
  suppress: 'will receive no email at all until you remove the suppression.',
  erase: 'will be erased permanently, with the personal data in messages and events. Aggregate statistics are kept.',
}

/** Asks for the group or for confirmation, and starts the action. */
export function BulkDialog(props: Props) {
  const { action } = props
  if (action === 'add_to_group' || action === 'remove_from_group') return <GroupDialog {...props} action={action} />
  return <ConfirmDialog {...props} action={action} />
}

function ConfirmDialog({
  action,
  selection,
  contacts,
  onClose,
  onStarted,
}: Props & { action: keyof typeof explanations }) {
  const verb = `${action[0]!.toUpperCase()}${action.slice(1)}`
  return (
    <Confirm
      opened
      onClose={onClose}
      title={`${verb} ${contacts}`}
      action={verb}
      {...(action === 'erase' && { typed: 'erase' })}
      run={async () => onStarted((await startBulkAction(action, selection)).id)}
    >
      {contacts} {explanations[action]}
    </Confirm>
  )
}

function GroupDialog({
  action,
  selection,
  contacts,
  onClose,
  onStarted,
}: Props & { action: 'add_to_group' | 'remove_from_group' }) {
  const groups = useQuery(groupsQuery)
  const isAdding = action === 'add_to_group'
  const form = useRequestForm({
    initialValues: { group_id: '' },
    validate: (values) => ({ group_id: values.group_id ? undefined : 'Choose a group.' }),
    send: (values) => startBulkAction(action, selection, values.group_id),
    onSaved: (started) => {
      onStarted(started.id)
      onClose()
    },
  })
  return (
    <Dialog
      opened
      onClose={onClose}
      title={isAdding ? `Add ${contacts} to a group` : `Remove ${contacts} from a group`}
    >
      <DialogForm form={form} action={isAdding ? 'Add to group' : 'Remove from group'} onCancel={onClose}>
        <Select label="Group" required searchable data={optionsOf(groups.data)} {...form.field('group_id')} />
        {isAdding && (
          <Text c="dimmed">Contacts that exist only because they were sent an email become subscribed.</Text>
        )}
      </DialogForm>
    </Dialog>
  )
}
