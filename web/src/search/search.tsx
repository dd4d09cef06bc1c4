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
  const { groups, searching } = useFound(query, navigate)

  useEffect(() => {
    if (wanted > 0) spotlight.open()
  }, [wanted])

  return (
    <Spotlight
      query={text}
      onQueryChange={setText}
      actions={[...groups, { group: 'Pages', actions: pages(text.trim(), navigate) }]}
      // The service has searched already; filtering once more would lose what it found by other words.
      filter={(_query, actions) => actions}
      shortcut={null}
      nothingFound={searching ? 'Searching …' : 'Nothing found'}
      searchProps={{
        leftSection: <IconSearch size={18} aria-hidden />,
        placeholder: 'Search contacts, flows, messages and pages',
        'aria-label': 'Search',
        onKeyDown: (event) => {
          if (event.key === 'Enter') takeFirst(event.currentTarget)
        },
      }}
      attributes={{ content: { 'aria-label': 'Search' } }}
      scrollable
      maxHeight={440}
    />
  )
}

/** Enter without having chosen takes what stands first. */
function takeFirst(field: HTMLElement): void {
  const dialog = field.closest('[role=dialog]')
  if (dialog?.querySelector('[data-action][data-selected]')) return
  dialog?.querySelector<HTMLElement>('[data-action]')?.click()
}

/** Each kind is asked for by itself: what is found first is shown first. */
function useFound(query: string, navigate: NavigateFunction) {
  const search = { enabled: query !== '', staleTime: 10_000 }
  const asked = (signal: AbortSignal) => ({ params: { query: { query, limit: perKind } }, signal })
  const contacts = useQuery({
    queryKey: ['search', 'contacts', query],
    queryFn: ({ signal }) => pageOf(api.GET('/api/v1/organization/contacts', asked(signal))),
    ...search,
  })
  const flows = useQuery({
    queryKey: ['search', 'flows', query],
    queryFn: ({ signal }) => pageOf(api.GET('/api/v1/organization/flows', asked(signal))),
    ...search,
  })
  const messages = useQuery({
    queryKey: ['search', 'messages', query],
    queryFn: ({ signal }) => pageOf(api.GET('/api/v1/organization/messages', asked(signal))),
    ...search,
  })
  const groups: SpotlightActionGroupData[] = [
    { group: 'Contacts', actions: (contacts.data?.items ?? []).map((contact) => contactAction(contact, navigate)) },
    { group: 'Flows', actions: (flows.data?.items ?? []).map((flow) => flowAction(flow, navigate)) },
    { group: 'Messages', actions: (messages.data?.items ?? []).map((message) => messageAction(message, navigate)) },
  ]
  return {
    groups: query === '' ? [] : groups.filter((group) => group.actions.length > 0),
    searching: contacts.isFetching || flows.isFetching || messages.isFetching,
  }
}

const contactAction = (contact: Contact, navigate: NavigateFunction): SpotlightActionData => ({
  id: contact.id,
  label: contact.email,
  description: [contact.first_name, contact.last_name].filter(Boolean).join(' '),
  leftSection: <IconUser size={18} aria-hidden />,
  onClick: () => void navigate(paths.contact(contact.id)),
})

const flowAction = (flow: FlowRow, navigate: NavigateFunction): SpotlightActionData => ({
  id: flow.id,
  label: flow.name,
  description: flow.subject,
  leftSection: <IconMailForward size={18} aria-hidden />,
  onClick: () => void navigate(paths.flow(flow.id)),
})

const messageAction = (message: Message, navigate: NavigateFunction): SpotlightActionData => ({
  id: message.id,
  label: message.subject,
  description: `to ${message.contact.email}`,
  leftSection: <IconSend size={18} aria-hidden />,
  onClick: () => void navigate(paths.message(message.id)),
})

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
