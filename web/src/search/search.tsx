import '@mantine/spotlight/styles.css'
import { useDebouncedValue } from '@mantine/hooks'
import { Spotlight, type SpotlightActionData, type SpotlightActionGroupData, spotlight } from '@mantine/spotlight'
import { IconMailForward, IconSearch, IconSend, IconUser } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { type NavigateFunction, useNavigate } from 'react-router'
import { api, pageOf } from '../api/client.ts'
import type { Contact, FlowRow, Message } from '../api/types.ts'
import { paths } from '../paths.ts'
import { places } from '../shell/nav.tsx'
import { useSearchWanted } from './open-search.ts'

const typingPauseMs = 200
const perKind = '5'

const settings: [string, string][] = [
  ['Webhooks', paths.webhooks],
  ['API keys', paths.apiKeys],
  ['Suppressions', paths.suppressions],
  ['Sending', paths.sending],
  ['Team', paths.team],
  ['Organization', paths.organization],
  ['Groups', paths.groups],
  ['Imports', paths.imports],
  ['New flow', paths.newFlow],
  ['Import contacts', paths.newImport],
]

/** Ctrl-K: one field that finds contacts, flows, messages and pages. */
export function Search() {
  const navigate = useNavigate()
  const wanted = useSearchWanted()
  const [text, setText] = useState('')
  const [query] = useDebouncedValue(text.trim(), typingPauseMs)
  const found = useQuery({
    queryKey: ['search', query],
    queryFn: ({ signal }) => find(query, signal),
    enabled: query !== '',
    staleTime: 10_000,
  })

  useEffect(() => {
    if (wanted > 0) spotlight.open()
  }, [wanted])

  const results = query === '' ? undefined : found.data
  return (
    <Spotlight
      query={text}
      onQueryChange={setText}
      actions={[...groupsOf(results, navigate), { group: 'Pages', actions: pages(text.trim(), navigate) }]}
      // The service has searched already; filtering once more would lose what it found by other words.
      filter={(_query, actions) => actions}
      shortcut={null}
      nothingFound={found.isFetching ? 'Searching …' : 'Nothing found'}
      searchProps={{
        leftSection: <IconSearch size={18} aria-hidden />,
        placeholder: 'Search contacts, flows, messages and pages',
        'aria-label': 'Search',
      }}
      scrollable
      maxHeight={440}
    />
  )
}

type Found = { contacts: Contact[]; flows: FlowRow[]; messages: Message[] }

async function find(query: string, signal: AbortSignal): Promise<Found> {
  const asked = { params: { query: { query, limit: perKind } }, signal }
  const [contacts, flows, messages] = await Promise.all([
    pageOf(api.GET('/api/v1/organization/contacts', asked)),
    pageOf(api.GET('/api/v1/organization/flows', asked)),
    pageOf(api.GET('/api/v1/organization/messages', asked)),
  ])
  return { contacts: contacts.items, flows: flows.items, messages: messages.items }
}

function groupsOf(found: Found | undefined, navigate: NavigateFunction): SpotlightActionGroupData[] {
  if (!found) return []
  const go = (to: string) => () => void navigate(to)
  const groups: SpotlightActionGroupData[] = [
    {
      group: 'Contacts',
      actions: found.contacts.map((contact) => ({
        id: contact.id,
        label: contact.email,
        description: [contact.first_name, contact.last_name].filter(Boolean).join(' '),
        leftSection: <IconUser size={18} aria-hidden />,
        onClick: go(paths.contact(contact.id)),
      })),
    },
    {
      group: 'Flows',
      actions: found.flows.map((flow) => ({
        id: flow.id,
        label: flow.name,
        description: flow.subject,
        leftSection: <IconMailForward size={18} aria-hidden />,
        onClick: go(paths.flow(flow.id)),
      })),
    },
    {
      group: 'Messages',
      actions: found.messages.map((message) => ({
        id: message.id,
        label: message.subject ?? 'Message',
        description: `to ${message.contact.email}`,
        leftSection: <IconSend size={18} aria-hidden />,
        onClick: go(paths.message(message.id)),
      })),
    },
  ]
  return groups.filter((group) => group.actions.length > 0)
}

function pages(text: string, navigate: NavigateFunction): SpotlightActionData[] {
  const all = [
    ...places.map(({ to, label, icon }) => ({ to, label, icon })),
    ...settings.map(([label, to]) => ({ to, label, icon: undefined })),
  ]
  return all
    .filter((place) => place.label.toLowerCase().includes(text.toLowerCase()))
    .map((place) => ({
      id: place.to,
      label: place.label,
      leftSection: place.icon,
      onClick: () => void navigate(place.to),
    }))
}
