import { Anchor, Button, Stack, Text } from '@mantine/core'
import { IconKey, IconRefresh, IconTrash, IconWorld } from '@tabler/icons-react'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Link, useNavigate, useParams } from 'react-router'
import { useMe } from '../../accounts/session/session.api.ts'
import { setupQuery } from '../../accounts/settings/settings.api.ts'
import { messageOf } from '../../api/api-error.ts'
import { keys, useInvalidate } from '../../api/keys.ts'
import type { Domain, DomainRecord } from '../../api/types.ts'
import { paths } from '../../paths.ts'
import { ActionMenu } from '../../ui/action-menu.tsx'
import { Facts } from '../../ui/facts.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Page } from '../../ui/page.tsx'
import { Section } from '../../ui/section.tsx'
import { ErrorLine, Load } from '../../ui/states.tsx'
import { DayAndClock, Time } from '../../ui/time.tsx'
import { toast } from '../../ui/toast.tsx'
import { DomainRecords } from './domain-records.tsx'
import { DomainStatus } from './domain-status.tsx'
import { deleteDomain, domainQuery, rotateDomainKey, verifyDomain } from './domains.api.ts'
import { HostsDialog, labelFields } from './hosts-dialog.tsx'
import { WarmUpSection } from './warm-up.tsx'

const back = { to: paths.domains, label: 'Domains' }

export function DomainPage() {
  const { id = '' } = useParams()
  const domain = useQuery(domainQuery(id))
  if (domain.data) return <DomainView domain={domain.data} />
  return (
    <Page title="Domain" back={back}>
      <Load query={domain}>{() => null}</Load>
    </Page>
  )
}

function DomainView({ domain }: { domain: Domain }) {
  const queries = useQueryClient()
  const invalidate = useInvalidate()
  const navigate = useNavigate()
  const [changingHosts, setChangingHosts] = useState(false)
  const sender = useMe().data?.organization.default_sender?.email
  const senderNote = sender?.endsWith(`@${domain.name}`)
    ? ` The default sender ${sender} is removed: emails without a sender leave as that of the installation.`
    : ''
  const store = (changed: Domain) => queries.setQueryData(keys.domain(domain.id), changed)
  const check = useMutation({
    mutationFn: () => verifyDomain(domain.id),
    onSuccess: async (checked) => {
      store(checked)
      // The first verified domain becomes that of the default sender.
      if (checked.status !== domain.status) await invalidate(keys.sending, keys.me)
    },
  })
  const rotate = async () => {
    store(await rotateDomainKey(domain.id))
    toast('New key made. Publish its record.')
  }
  const remove = async () => {
    await deleteDomain(domain.id)
    await navigate(paths.domains)
    await invalidate(keys.domains, keys.sending, keys.me)
    toast('Domain deleted.')
  }
  return (
    <Page
      title={domain.name}
      beside={<DomainStatus status={domain.status} />}
      back={back}
      wide
      actions={
        <>
          <Button
            leftSection={<IconRefresh size={16} aria-hidden />}
            loading={check.isPending}
            onClick={() => check.mutate()}
          >
            Check now
          </Button>
          <ActionMenu
            actions={[
              labelFields(domain).length > 0 && {
                label: 'Change hosts',
                icon: IconWorld,
                run: () => setChangingHosts(true),
              },
              !domain.is_rotating && {
                label: 'Rotate key',
                icon: IconKey,
                confirm: {
                  title: 'Rotate the DKIM key',
                  children:
                    'A second key is made, and its record appears below. Emails are signed with the new key once the record is found. Keep the old record for a week.',
                  action: 'Make a new key',
                  run: rotate,
                },
              },
              {
                label: 'Delete',
                icon: IconTrash,
                danger: true,
                confirm: {
                  title: `Delete ${domain.name}`,
                  children: `Its keys are deleted, and emails from ${domain.name} are no longer signed for it. They carry the hosts of this installation again.${senderNote} This can’t be undone.`,
                  action: 'Delete domain',
                  run: remove,
                },
              },
            ]}
          />
        </>
      }
    >
      <Stack gap="md">
        {check.isError && <ErrorLine>{messageOf(check.error)}</ErrorLine>}
        <Situation domain={domain} />
        <Facts
          facts={[
            ['Added', <Time key="added" at={domain.created_at} />],
            ['Verified', <Time key="verified" at={domain.verified_at} none="Not yet" />],
            ['Checked', <Time key="checked" at={domain.checked_at} none="Not yet" />],
          ]}
        />
        <Section
          title="DNS records"
          description="Add these records at your DNS provider. The first two are required; the others make it more likely that your emails arrive."
        >
          <Stack gap="sm">
            <DomainRecords records={domain.records} />
            <RecordsToFollow records={domain.records} />
          </Stack>
        </Section>
        <WarmUpSection domain={domain} />
      </Stack>
      {changingHosts && <HostsDialog domain={domain} onSaved={store} onClose={() => setChangingHosts(false)} />}
    </Page>
  )
}

/** Nothing is offered that leads to this machine or a private network. */
function RecordsToFollow({ records }: Pick<Domain, 'records'>) {
  const setup = useQuery(setupQuery)
  const has = (purpose: DomainRecord['purpose']) => records.some((record) => record.purpose === purpose)
  const isLocal = setup.data?.steps.some(({ key, state }) => key === 'base_url' && state !== 'done')
  const setupLink = (
    <Anchor component={Link} to={paths.setup} underline="always" inherit>
      Setup
    </Anchor>
  )
  return (
    <>
      {!has('spf') && (
        <Text size="sm" c="dimmed">
          SPF follows once your email leaves through a provider or a mail server at a public address. See {setupLink}.
        </Text>
      )}
      {!has('tracking') && isLocal && (
        <Text size="sm" c="dimmed">
          The link host follows once this installation has a public address. See {setupLink}.
        </Text>
      )}
    </>
  )
}

const dayAfter = (time: string) => new Date(Date.parse(time) + 24 * 60 * 60 * 1000).toISOString()

function Situation({ domain }: { domain: Domain }) {
  if (domain.is_rotating)
    return (
      <Notice tone="info" title="The key is being rotated">
        <Text>Publish the second DKIM record. Emails are signed with the new key once it is found.</Text>
      </Notice>
    )
  switch (domain.status) {
    case 'verified':
      return null
    case 'pending':
      return (
        <Notice tone="info" title="Publish the records">
          <Text>
            We look them up every minute for an hour, then less often. New records may take a while to appear.
          </Text>
        </Notice>
      )
    case 'warning':
      return (
        <Notice tone="warn" title="A required record has vanished">
          <Text>
            Publish the record again
            {domain.failing_since && (
              <>
                {' '}
                before <DayAndClock at={dayAfter(domain.failing_since)} />. Until then, emails are still signed for this
                domain
              </>
            )}
            .
          </Text>
        </Notice>
      )
    case 'unverified':
      return (
        <Notice tone="bad" title="This domain is no longer verified">
          <Text>A required record was missing for 24 hours. Publish it again, then press “Check now”.</Text>
        </Notice>
      )
  }
}
