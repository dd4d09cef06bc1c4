import type { SpotlightActionData } from '@mantine/spotlight'
import {
  IconBolt,
  IconFilter,
  IconKey,
  IconListDetails,
  IconMailForward,
  IconPackageExport,
  IconSend,
  IconSpeakerphone,
  IconUpload,
  IconUser,
  IconUsersGroup,
  IconWebhook,
} from '@tabler/icons-react'
import { queryOptions } from '@tanstack/react-query'
import type { NavigateFunction } from 'react-router'
import { ApiError } from '../api/api-error.ts'
import { api, dataOf } from '../api/client.ts'
import { keys } from '../api/keys.ts'
import { paths } from '../paths.ts'
import { emailText } from '../ui/email-text.ts'

type Found = { to: string; label: string; description: string; icon: React.ReactNode }

const at = (id: string) => ({ params: { path: { id } } })
const size = { size: 18, 'aria-hidden': true } as const

/** One lookup per kind of id. API responses, webhooks and logs name things by these ids. */
const lookups: Record<string, (id: string) => Promise<Found | undefined>> = {
  msg: async (id) => {
    const message = await dataOf(api.GET('/api/v1/organization/messages/{id}', at(id)))
    return {
      to: paths.message(id),
      label: message.subject || '(no subject)',
      description: `Message to ${emailText(message.contact.email)}`,
      icon: <IconSend {...size} />,
    }
  },
  con: async (id) => {
    const contact = await dataOf(api.GET('/api/v1/organization/contacts/{id}', at(id)))
    return {
      to: paths.contact(id),
      label: emailText(contact.email),
      description: 'Contact',
      icon: <IconUser {...size} />,
    }
  },
  flw: async (id) => {
    const flow = await dataOf(api.GET('/api/v1/organization/flows/{id}', at(id)))
    return { to: paths.flow(id), label: flow.name, description: 'Flow', icon: <IconMailForward {...size} /> }
  },
  grp: async (id) => {
    const group = await dataOf(api.GET('/api/v1/organization/groups/{id}', at(id)))
    const to = `${paths.contacts}?group=${group.id}`
    return { to, label: group.name, description: 'Group', icon: <IconUsersGroup {...size} /> }
  },
  seg: async (id) => {
    const segment = await dataOf(api.GET('/api/v1/organization/segments/{id}', at(id)))
    return { to: paths.segment(id), label: segment.name, description: 'Segment', icon: <IconFilter {...size} /> }
  },
  brc: async (id) => {
    const broadcast = await dataOf(api.GET('/api/v1/organization/broadcasts/{id}', at(id)))
    const icon = <IconSpeakerphone {...size} />
    return { to: paths.broadcast(id), label: broadcast.name, description: 'Broadcast', icon }
  },
  whk: async (id) => {
    const webhook = await dataOf(api.GET('/api/v1/organization/webhooks/{id}', at(id)))
    return { to: paths.webhook(id), label: webhook.name, description: 'Webhook', icon: <IconWebhook {...size} /> }
  },
  dlv: async (id) => {
    const delivery = await dataOf(api.GET('/api/v1/organization/deliveries/{id}', at(id)))
    return {
      to: paths.delivery(delivery.webhook_id, id),
      label: delivery.event_name,
      description: 'Webhook delivery',
      icon: <IconPackageExport {...size} />,
    }
  },
  evt: async (id) => {
    const event = await dataOf(api.GET('/api/v1/organization/events/{id}', at(id)))
    const to = event.message_id ? paths.message(event.message_id) : event.contact && paths.contact(event.contact.id)
    if (!to) return undefined
    const description = event.contact ? `Event of ${emailText(event.contact.email)}` : 'Event'
    return { to, label: event.event_name, description, icon: <IconBolt {...size} /> }
  },
  imp: async (id) => {
    const found = await dataOf(api.GET('/api/v1/organization/imports/{id}', at(id)))
    return { to: paths.contactImport(id), label: found.filename, description: 'Import', icon: <IconUpload {...size} /> }
  },
  req: async (id) => {
    const request = await dataOf(api.GET('/api/v1/organization/api-requests/{id}', at(id)))
    const label = `${request.method} ${request.path}`
    return { to: paths.apiRequest(id), label, description: 'API request', icon: <IconListDetails {...size} /> }
  },
  mse: async (id) => {
    const server = await dataOf(api.GET('/api/v1/organization/mail-servers/{id}', at(id)))
    const icon = <IconMailForward {...size} />
    return { to: paths.mailServer(id), label: server.name, description: 'Mail server', icon }
  },
  key: async (id) => {
    const keys = await dataOf(api.GET('/api/v1/organization/api-keys'))
    const key = keys.find((candidate) => candidate.id === id)
    return key && { to: paths.apiKeys, label: key.name, description: 'API key', icon: <IconKey {...size} /> }
  },
}

const idPattern = /^(msg|con|flw|grp|seg|brc|whk|dlv|key|req|evt|imp)_[0-9a-z-]{8,64}$/i

export const isId = (text: string) => idPattern.test(text)

/** The thing with this id; null if there is none in this organization. */
export const byIdQuery = (id: string) =>
  queryOptions({
    queryKey: keys.byId(id),
    queryFn: async () => {
      try {
        return (await lookups[id.slice(0, 3).toLowerCase()]?.(id)) ?? null
      } catch (error) {
        if (error instanceof ApiError && error.status === 404) return null
        throw error
      }
    },
    enabled: isId(id),
    staleTime: 10_000,
  })

export const idAction = (id: string, found: Found, navigate: NavigateFunction): SpotlightActionData => ({
  id,
  label: found.label,
  description: found.description,
  leftSection: found.icon,
  onClick: () => void navigate(found.to),
})
