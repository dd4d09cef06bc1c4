import { Checkbox, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { keys, useInvalidate } from '../../api/keys.ts'
import type { Member } from '../../api/types.ts'
import { webhooksQuery } from '../../events/webhooks/webhooks.api.ts'
import { useSignOut } from '../../shell/sign-out.ts'
import { Confirm } from '../../ui/confirm.tsx'
import { toast } from '../../ui/toast.tsx'
import { useMe } from '../session/session.api.ts'
import { apiKeysQuery, removeMember } from './settings.api.ts'

type Props = { member: Member | undefined; onClose: () => void }

/** API keys and webhooks keep working without their creator, so the owner decides about them here. */
export function RemoveDialog({ member, onClose }: Props) {
  const invalidate = useInvalidate()
  const apiKeys = useQuery({ ...apiKeysQuery, enabled: member !== undefined })
  const webhooks = useQuery({ ...webhooksQuery, enabled: member !== undefined })
  const [revokeApiKeys, setRevokeApiKeys] = useState(true)
  const [pauseWebhooks, setPauseWebhooks] = useState(true)
  const byMember = <Item extends { name: string; created_by: { id: string } | null }>(list: Item[] | undefined) =>
    (list ?? []).filter((item) => member && item.created_by?.id === member.id).map((item) => item.name)
  const [keyNames, webhookNames] = [byMember(apiKeys.data), byMember(webhooks.data)]
  return (
    <Confirm
      opened={member !== undefined}
      onClose={onClose}
      title="Remove from team"
      action="Remove member"
      run={async () => {
        if (member) await removeMember(member.id, { revokeApiKeys, pauseWebhooks })
        await invalidate(keys.members, keys.invitations, keys.apiKeys, keys.webhooks)
      }}
    >
      <Stack gap="sm">
        <Text>
          <strong>{member?.email}</strong> will lose access immediately, and the invitations they created will be
          revoked.
        </Text>
        {keyNames.length > 0 && (
          <Checkbox
            label={`Revoke API keys they created: ${keyNames.join(', ')}`}
            description="Apps that use these keys lose access within seconds."
            checked={revokeApiKeys}
            onChange={(event) => setRevokeApiKeys(event.currentTarget.checked)}
          />
        )}
        {webhookNames.length > 0 && (
          <Checkbox
            label={`Pause webhooks they created: ${webhookNames.join(', ')}`}
            description="You can resume them and replay missed events later."
            checked={pauseWebhooks}
            onChange={(event) => setPauseWebhooks(event.currentTarget.checked)}
          />
        )}
      </Stack>
    </Confirm>
  )
}

/** For the own row: leaving also ends the session. */
export function LeaveDialog({ member, onClose }: Props) {
  const me = useMe()
  const signOut = useSignOut()
  const organization = me.data?.organization.name ?? 'the organization'
  return (
    <Confirm
      opened={member !== undefined}
      onClose={onClose}
      title="Leave team"
      action="Leave team"
      run={async () => {
        if (!member) return
        await removeMember(member.id)
        signOut()
        toast(`You left ${organization}.`)
      }}
    >
      You will lose access to <strong>{organization}</strong> immediately and be signed out. Everything you created is
      kept. To come back, you need a new invitation.
    </Confirm>
  )
}
