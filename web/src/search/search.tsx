import { keys } from '../api/keys.ts'
import { emailText } from '../ui/email-text.ts'
import '@mantine/spotlight/styles.css'
import { useDebouncedValue } from '@mantine/hooks'
import { Spotlight, type SpotlightActionData, type SpotlightActionGroupData, spotlight } from '@mantine/spotlight'
import {
  IconBook,
  IconFilter,
  IconMailForward,
  IconSearch,
  IconSend,
  IconSpeakerphone,
  IconUser,
  IconUsersGroup,
  IconWebhook,
  IconWorld,
} from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { type NavigateFunction, useNavigate } from 'react-router'
import { api, pageOf } from '../api/client.ts'
import type { Broadcast, Contact, Domain, FlowRow, Group, MailServer, Message, Segment, Webhook } from '../api/types.ts'
import { groupsQuery } from '../audience/contacts/contacts.api.ts'
import { segmentsQuery } from '../audience/segments/segments.api.ts'
import { domainsQuery } from '../delivery/domains/domains.api.ts'
import { mailServersQuery } from '../delivery/mail-servers/mail-servers.api.ts'
import { webhooksQuery } from '../events/webhooks/webhooks.api.ts'
import { paths } from '../paths.ts'
import { guides as guidesAddress } from '../ui/api-reference.tsx'
import { byIdQuery, idAction, isId } from './by-id.tsx'
import { useCommands } from './commands.tsx'
import { type GuideSection, guideIndexQuery, guidesFound } from './guides.ts'
import { useSearchRequests } from './open-search.ts'

const typingPauseMs = 200
const perKind = 5

/** Ctrl-K: finds records by name or id, pages and guides, and runs actions. */
export function Search() {
  const navigate = useNavigate()
  const requests = useSearchRequests()
  const [text, setText] = useState('')
  const [query] = useDebouncedValue(text.trim(), typingPauseMs)
  const { groups, searching } = useFound(query, navigate)
  const { pages, actions } = useCommands(text.trim())

  useEffect(() => {
    if (requests > 0) spotlight.open()
  }, [requests])

  return (
    <Spotlight
      query={text}
      onQueryChange={setText}
      // A group without actions would count as a result.
      actions={[...groups, { group: 'Actions', actions }, { group: 'Pages', actions: pages }].filter(hasActions)}
      // The server has searched already, by more than the label; filtering here would lose results.
      filter={(_query, actions) => actions}
      shortcut={null}
      nothingFound={searching ? 'Searching…' : 'No results'}
      searchProps={{
        leftSection: <IconSearch size={18} aria-hidden />,
        placeholder: 'Search, paste an ID, or run a command',
        'aria-label': 'Search',
        onKeyDown: (event) => {
          if (event.key === 'Enter') openFirstResult(event.currentTarget)
        },
      }}
      attributes={{ content: { 'aria-label': 'Search' } }}
      scrollable
      maxHeight={440}
      // Fixed at the top: a centred box would jump whenever the number of results changes.
      centered={false}
      yOffset="12vh"
    />
  )
}

/** Enter without a selection runs the first result. */
function openFirstResult(field: HTMLElement): void {
  const dialog = field.closest('[role=dialog]')
  if (dialog?.querySelector('[data-action][data-selected]')) return
  dialog?.querySelector<HTMLElement>('[data-action]')?.click()
}

const hasActions = (group: SpotlightActionGroupData) => group.actions.length > 0

/** One request per kind, so that a slow search does not delay the others. */
function useFound(query: string, navigate: NavigateFunction) {
  const search = { enabled: query !== '' && !isId(query), staleTime: 10_000 }
  const byId = useQuery(byIdQuery(query))
  const asked = (signal: AbortSignal) => ({ params: { query: { query, limit: perKind } }, signal })
  const contacts = useQuery({
    queryKey: keys.search('contacts', query),
    queryFn: ({ signal }) => pageOf(api.GET('/api/v1/organization/contacts', asked(signal))),
    ...search,
  })
  const flows = useQuery({
    queryKey: keys.search('flows', query),
    queryFn: ({ signal }) => pageOf(api.GET('/api/v1/organization/flows', asked(signal))),
    ...search,
  })
  const broadcasts = useQuery({
    queryKey: keys.search('broadcasts', query),
    queryFn: ({ signal }) => pageOf(api.GET('/api/v1/organization/broadcasts', asked(signal))),
    ...search,
  })
  const messages = useQuery({
    queryKey: keys.search('messages', query),
    queryFn: ({ signal }) => pageOf(api.GET('/api/v1/organization/messages', asked(signal))),
    ...search,
  })
  // The API lists these completely, without a search.
  const groups = useQuery({ ...groupsQuery, ...search })
  const segments = useQuery({ ...segmentsQuery, ...search })
  const webhooks = useQuery({ ...webhooksQuery, ...search })
  const domains = useQuery({ ...domainsQuery, ...search })
  const servers = useQuery({ ...mailServersQuery, ...search, refetchInterval: false })
  const guides = useQuery({ ...guideIndexQuery, enabled: search.enabled })
  const has = (...texts: string[]) => texts.some((text) => text.toLowerCase().includes(query.toLowerCase()))
  const groupsFound = groups.data?.filter(({ name }) => has(name)).slice(0, perKind) ?? []
  const segmentsFound = segments.data?.filter(({ name }) => has(name)).slice(0, perKind) ?? []
  const webhooksFound = webhooks.data?.filter(({ name, url }) => has(name, url)).slice(0, perKind) ?? []
  const domainsFound = domains.data?.filter(({ name }) => has(name)).slice(0, perKind) ?? []
  const serversFound = servers.data?.filter(({ name, host }) => has(name, host)).slice(0, perKind) ?? []
  const found: SpotlightActionGroupData[] = [
    { group: 'Contacts', actions: (contacts.data?.items ?? []).map((contact) => contactAction(contact, navigate)) },
    { group: 'Flows', actions: (flows.data?.items ?? []).map((flow) => flowAction(flow, navigate)) },
    {
      group: 'Broadcasts',
      actions: (broadcasts.data?.items ?? []).map((broadcast) => broadcastAction(broadcast, navigate)),
    },
    { group: 'Messages', actions: (messages.data?.items ?? []).map((message) => messageAction(message, navigate)) },
    { group: 'Groups', actions: groupsFound.map((group) => groupAction(group, navigate)) },
    { group: 'Segments', actions: segmentsFound.map((segment) => segmentAction(segment, navigate)) },
    { group: 'Webhooks', actions: webhooksFound.map((webhook) => webhookAction(webhook, navigate)) },
    { group: 'Domains', actions: domainsFound.map((domain) => domainAction(domain, navigate)) },
    { group: 'Mail servers', actions: serversFound.map((server) => mailServerAction(server, navigate)) },
    { group: 'Guides', actions: guidesFound(guides.data ?? [], query).map(guideAction) },
  ]
  const withId = byId.data ? [{ group: 'Found by ID', actions: [idAction(query, byId.data, navigate)] }] : []
  return {
    groups: query === '' ? [] : isId(query) ? withId : found,
    searching: [
      ...[contacts, flows, broadcasts, messages, groups, segments, webhooks, domains, servers, guides, byId],
    ].some((asked) => asked.isFetching),
  }
}

const contactAction = (contact: Contact, navigate: NavigateFunction): SpotlightActionData => ({
  id: contact.id,
  label: emailText(contact.email),
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
  description: `to ${emailText(message.contact.email)}`,
  leftSection: <IconSend size={18} aria-hidden />,
  onClick: () => void navigate(paths.message(message.id)),
})

const groupAction = (group: Group, navigate: NavigateFunction): SpotlightActionData => ({
  id: group.id,
  label: group.name,
  leftSection: <IconUsersGroup size={18} aria-hidden />,
  onClick: () => void navigate(`${paths.contacts}?group=${group.id}`),
})

const broadcastAction = (broadcast: Broadcast, navigate: NavigateFunction): SpotlightActionData => ({
  id: broadcast.id,
  label: broadcast.name,
  leftSection: <IconSpeakerphone size={18} aria-hidden />,
  onClick: () => void navigate(paths.broadcast(broadcast.id)),
})

const segmentAction = (segment: Segment, navigate: NavigateFunction): SpotlightActionData => ({
  id: segment.id,
  label: segment.name,
  leftSection: <IconFilter size={18} aria-hidden />,
  onClick: () => void navigate(paths.segment(segment.id)),
})

const domainAction = (domain: Domain, navigate: NavigateFunction): SpotlightActionData => ({
  id: domain.id,
  label: domain.name,
  leftSection: <IconWorld size={18} aria-hidden />,
  onClick: () => void navigate(paths.domain(domain.id)),
})

const mailServerAction = (server: MailServer, navigate: NavigateFunction): SpotlightActionData => ({
  id: server.id,
  label: server.name,
  description: server.host,
  leftSection: <IconMailForward size={18} aria-hidden />,
  onClick: () => void navigate(paths.mailServer(server.id)),
})

const guideAction = ({ guide, title, heading, anchor }: GuideSection): SpotlightActionData => ({
  id: `guide ${guide}#${anchor}`,
  label: heading || title,
  description: heading ? title : '',
  leftSection: <IconBook size={18} aria-hidden />,
  onClick: () => void window.open(`${guidesAddress}${guide}${anchor && `#${anchor}`}`, '_blank', 'noreferrer'),
})

const webhookAction = (webhook: Webhook, navigate: NavigateFunction): SpotlightActionData => ({
  id: webhook.id,
  label: webhook.name,
  description: webhook.url,
  leftSection: <IconWebhook size={18} aria-hidden />,
  onClick: () => void navigate(paths.webhook(webhook.id)),
})
