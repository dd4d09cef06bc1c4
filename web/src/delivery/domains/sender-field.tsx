import { Anchor, Input, Select, Stack, Text, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Link } from 'react-router'
import { sendingQuery } from '../../accounts/settings/settings.api.ts'
import type { Domain, SendingStatus } from '../../api/types.ts'
import { paths } from '../../paths.ts'
import { domainsQuery } from './domains.api.ts'

const byDefault = 'default'
const other = 'other'
const firstLocalPart = 'hello'

type Props = {
  /** Null: the default sender. */
  value: string | null
  onChange: (address: string | null) => void
  error?: React.ReactNode
  /** False where the default sender itself is chosen. */
  allowsDefault?: boolean
  /** False where the page says it already. */
  explainsDefault?: boolean
}

/** Who an email is from: the default sender, any name at a verified domain, or an address that is typed. */
export function SenderField({ value, onChange, error, allowsDefault = true, explainsDefault = true }: Props) {
  const { data: domains = [] } = useQuery(domainsQuery)
  const { data: sending } = useQuery(sendingQuery)
  const [isOther, setOther] = useState(false)
  const verified = domains.filter(isVerified).map(({ name }) => name)
  const domain = domainOf(value ?? '')
  const isEmpty = value === null && (allowsDefault || verified.length > 0)
  const chosen = isOther ? other : isEmpty ? byDefault : verified.includes(domain) ? domain : other
  const choose = (choice: string | null) => {
    setOther(choice === other)
    if (choice === byDefault) onChange(null)
    else if (choice !== null && choice !== other) onChange(`${localPartOf(value ?? '') || firstLocalPart}@${choice}`)
  }
  return (
    <Stack gap={6}>
      <Select
        label="Sender address"
        placeholder="Choose a domain"
        allowDeselect={false}
        data={[
          ...(allowsDefault ? [{ value: byDefault, label: `Default sender: ${sending?.mail_from ?? '…'}` }] : []),
          ...verified.map((name) => ({ value: name, label: `@${name}` })),
          { value: other, label: 'Another address' },
        ]}
        value={chosen === byDefault && !allowsDefault ? null : chosen}
        onChange={choose}
        {...(chosen === byDefault && { error })}
      />
      {chosen === byDefault && allowsDefault && explainsDefault && sending && <DefaultSender sending={sending} />}
      {verified.includes(chosen) && (
        <TextInput
          label="Before the @"
          value={localPartOf(value ?? '')}
          maxLength={64}
          rightSection={<Text size="sm" c="dimmed" pr="sm">{`@${chosen}`}</Text>}
          rightSectionWidth="auto"
          onChange={(event) => onChange(`${event.currentTarget.value.trim()}@${chosen}`)}
          error={error}
        />
      )}
      {chosen === other && (
        <>
          <TextInput
            label="From address"
            type="email"
            maxLength={254}
            value={value ?? ''}
            onChange={(event) => onChange(event.currentTarget.value.trim() || null)}
            error={error}
          />
          {sending && <Remark domain={domain} domains={domains} sending={sending} />}
        </>
      )}
    </Stack>
  )
}

const isVerified = ({ status }: Domain) => status === 'verified' || status === 'warning'
const domainOf = (address: string) => address.slice(address.lastIndexOf('@') + 1).toLowerCase()
const localPartOf = (address: string) => address.slice(0, Math.max(0, address.lastIndexOf('@')))

/** Whether receivers would reject email from the address of a mailbox such as `Acme <hello@acme.com>`. */
export const isOnlyLocal = (mailbox: string) => /@(.*\.)?localhost>?$/.test(mailbox)

const SetupLink = ({ to, children }: { to: string; children: string }) => (
  <Anchor component={Link} to={to} inherit underline="always">
    {children}
  </Anchor>
)

function DefaultSender({ sending: { mail_from: sender } }: { sending: SendingStatus }) {
  if (!isOnlyLocal(sender))
    return (
      <Input.Description>
        Without an address of its own, the email leaves as {sender}. <SetupLink to={paths.setup}>Change it</SetupLink>
      </Input.Description>
    )
  return (
    <Text size="xs" c="var(--warn-text)" role="status">
      Receivers reject {sender}. <SetupLink to={paths.setup}>Choose a default sender</SetupLink>
    </Text>
  )
}

type RemarkProps = { domain: string; domains: readonly Domain[]; sending: SendingStatus }

/** Said at once, not only when the email is rejected. */
function Remark({ domain, domains, sending }: RemarkProps) {
  if (!domain.includes('.') || domains.some((each) => each.name === domain && isVerified(each))) return null
  const { sender_domains: allowed, mail_from: sender } = sending
  if (domainOf(sender.replace(/>$/, '')) === domain) return null
  const known = domains.find(({ name }) => name === domain)
  const isAllowed = !allowed || allowed.some((each) => isWithin(domain, each))
  if (allowed && isAllowed) return null
  return (
    <Text size="xs" c={isAllowed ? 'var(--warn-text)' : 'var(--bad-text)'} role="status">
      {isAllowed
        ? `${domain} is not verified: emails from it are not signed, and receivers may reject them.`
        : `${domain} is not verified, so this service does not send from it.`}{' '}
      <SetupLink to={known ? paths.domain(known.id) : paths.domains}>{known ? 'Show its records' : 'Add it'}</SetupLink>
    </Text>
  )
}

/** `*.example.com` stands for its subdomains. */
const isWithin = (domain: string, allowed: string) =>
  allowed.startsWith('*.') ? domain.endsWith(allowed.slice(1)) : domain === allowed
