import { Button } from '@mantine/core'
import { IconUserPlus } from '@tabler/icons-react'
import { useState } from 'react'
import { Section } from '../../ui/section.tsx'
import { useMay, useMe } from '../session/session.api.ts'
import { Invitations } from './invitations.tsx'
import { InviteDialog } from './invite-dialog.tsx'
import { Members } from './members.tsx'

export function TeamPage() {
  const me = useMe()
  const mayChange = useMay()('team:write')
  const [inviting, setInviting] = useState(false)
  return (
    <>
      <Section
        title="Team"
        titleHidden
        description="Owners manage the team and the organization. Members can do everything else; owners decide which of them start broadcasts."
        actions={
          mayChange && (
            <Button leftSection={<IconUserPlus size={16} aria-hidden />} onClick={() => setInviting(true)}>
              Invite member
            </Button>
          )
        }
      >
        <Members mayChange={mayChange} myId={me.data?.user.id} />
      </Section>
      {mayChange && <Invitations />}
      {inviting && <InviteDialog onClose={() => setInviting(false)} />}
    </>
  )
}
