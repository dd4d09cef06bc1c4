import '@mantine/spotlight/styles.css'
import { useDebouncedValue } from '@mantine/hooks'
import { Spotlight, type SpotlightActionData, type SpotlightActionGroupData, spotlight } from '@mantine/spotlight'
import { IconMailForward, IconSearch, IconSend, IconUser, IconUsersGroup, IconWebhook } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { type NavigateFunction, useNavigate } from 'react-router'
import { api, pageOf } from '../api/client.ts'
import type { Contact, FlowRow, Group, Message, Webhook } from '../api/types.ts'
import { groupsQuery } from '../contacts/contacts.api.ts'
import { paths } from '../paths.ts'
import { places } from '../shell/nav.tsx'
import { webhooksQuery } from '../webhooks/webhooks.api.ts'
import { useSearchWanted } from './open-search.ts'

const typingPauseMs = 200
const perKind = 5

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

/** Ctrl-K: one field that finds contacts, flows, messages, groups, webhooks and pages. */
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
      // A group without actions would count as something found.
      actions={[...groups, { group: 'Pages', actions: pages(text.trim(), navigate) }].filter(hasActions)}
      // The service has searched already; filtering once more would lose what it found by other words.
      filter={(_query, actions) => actions}
      shortcut={null}
      nothingFound={searching ? 'Searching …' : 'Nothing found'}
      searchProps={{
        leftSection: <IconSearch size={18} aria-hidden />,
        placeholder: 'Search contacts, flows, messages and more',
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

const hasActions = (group: SpotlightActionGroupData) => group.actions.length > 0

/** Each kind is asked for by itself: what is found first is shown first. */
function useFound(query: string, navigate: NavigateFunction) {
  const search = { enabled: query !== '', staleTime: 10_000 }
  const asked = (signal: AbortSignal) => ({ params: { query: { query, limit: String(perKind) } }, signal })
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
  // These two the service lists whole, without a search.
  const groups = useQuery({ ...groupsQuery, ...search })
  const webhooks = useQuery({ ...webhooksQuery, ...search })
  const has = (...texts: string[]) => texts.some((text) => text.toLowerCase().includes(query.toLowerCase()))
  const groupsFound = groups.data?.filter(({ name }) => has(name)).slice(0, perKind) ?? []
  const webhooksFound = webhooks.data?.filter(({ name, url }) => has(name, url)).slice(0, perKind) ?? []
  const found: SpotlightActionGroupData[] = [
    { group: 'Contacts', actions: (contacts.data?.items ?? []).map((contact) => contactAction(contact, navigate)) },
    { group: 'Flows', actions: (flows.data?.items ?? []).map((flow) => flowAction(flow, navigate)) },
    { group: 'Messages', actions: (messages.data?.items ?? []).map((message) => messageAction(message, navigate)) },
    { group: 'Groups', actions: groupsFound.map((group) => groupAction(group, navigate)) },
    { group: 'Webhooks', actions: webhooksFound.map((webhook) => webhookAction(webhook, navigate)) },
  ]
  return {
    groups: query === '' ? [] : found,
    searching: [contacts, flows, messages, groups, webhooks].some((asked) => asked.isFetching),
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

const groupAction = (group: Group, navigate: NavigateFunction): SpotlightActionData => ({
  id: group.id,
  label: group.name,
  leftSection: <IconUsersGroup size={18} aria-hidden />,
  onClick: () => void navigate(`${paths.contacts}?group=${group.id}`),
})

const webhookAction = (webhook: Webhook, navigate: NavigateFunction): SpotlightActionData => ({
  id: webhook.id,
  label: webhook.name,
  description: webhook.url,
  leftSection: <IconWebhook size={18} aria-hidden />,
  onClick: () => void navigate(paths.webhook(webhook.id)),
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
