import { Button } from '@mantine/core'
import { IconUserPlus } from '@tabler/icons-react'
import { useState } from 'react'
import { Section } from '../../ui/section.tsx'
import { useMe } from '../session/session.api.ts'
import { Invitations } from './invitations.tsx'
import { InviteDialog } from './invite-dialog.tsx'
import { Members } from './members.tsx'

export function TeamPage() {
  const me = useMe()
  const owner = me.data?.role === 'owner'
  const [inviting, setInviting] = useState(false)
  return (
    <>
      <Section
        title="Team"
        titleHidden
        description="Owners manage the team and the organization. Members can do everything else; owners decide which of them start broadcasts."
        actions={
          owner && (
            <Button leftSection={<IconUserPlus size={16} aria-hidden />} onClick={() => setInviting(true)}>
              Invite member
            </Button>
          )
        }
      >
        <Members owner={owner} myId={me.data?.user.id} />
      </Section>
      {owner && <Invitations />}
      {inviting && <InviteDialog onClose={() => setInviting(false)} />}
    </>
  )
}
