import type { MailServer, MailServerConnection, MailServerInput, MailServerPreset } from '../../api/types.ts'

/** The value of the choice of a mail server that is not a known provider. */
export const otherServer = 'other'

type NumberText = number | string

export type Values = {
  name: string
  preset: string
  host: string
  port: NumberText
  security: MailServer['security']
  auth: MailServer['auth']
  username: string
  password: string
  oauth: { client_id: string; client_secret: string; refresh_token: string; token_url: string }
  kinds: string[]
  from_domains: string
  priority: NumberText
  weight: NumberText
  connections: NumberText
  messages_per_second: NumberText
  messages_per_day: NumberText
  shape_by_receiver: boolean
  is_shared: boolean
}

export const initialValues = (server: MailServer | undefined): Values => ({
  name: server?.name ?? '',
  preset: server ? (server.preset ?? otherServer) : '',
  host: server?.host ?? '',
  port: server?.port ?? 587,
  security: server?.security ?? 'starttls',
  auth: server?.auth ?? 'password',
  username: server?.username ?? '',
  password: '',
  oauth: { client_id: '', client_secret: '', refresh_token: '', token_url: '' },
  kinds: server?.kinds ?? ['transactional', 'marketing'],
  from_domains: server?.from_domains.join(', ') ?? '',
  priority: server?.priority ?? 10,
  weight: server?.weight ?? 100,
  connections: server?.connections ?? 5,
  messages_per_second: server?.messages_per_second ?? '',
  messages_per_day: server?.messages_per_day ?? '',
  shape_by_receiver: server?.shape_by_receiver ?? false,
  is_shared: server?.is_shared ?? false,
})

/** The values that the choice of a provider fills in. */
export function valuesOf(
  preset: MailServerPreset | undefined,
  values: Values,
  names: readonly string[],
): Partial<Values> {
  // A name that was typed stays.
  const isNameFree = values.name === '' || names.includes(values.name)
  if (!preset)
    return {
      ...(isNameFree && { name: '' }),
      preset: otherServer,
      host: '',
      port: 587,
      security: 'starttls',
      username: '',
    }
  return {
    ...(isNameFree && { name: preset.name }),
    preset: preset.id,
    host: preset.hosts[0]?.host ?? '',
    kinds: preset.hosts[0]?.kinds ?? values.kinds,
    port: preset.port,
    security: preset.security,
    auth: 'password',
    username: preset.username ?? '',
  }
}

/** A secret that is also the user name has a name of its own. */
export const passwordLabel = (preset: MailServerPreset | undefined) =>
  preset?.username_is_password ? preset.password_hint : 'Password'

const required = (label: string, value: string) => (value.trim() === '' ? `${label} is required.` : undefined)

export function problemsOf(values: Values, server: MailServer | undefined, preset: MailServerPreset | undefined) {
  const isNew = server?.auth !== values.auth
  const hasUserName = values.auth !== 'none' && !preset?.username_is_password
  return {
    preset: values.preset === '' ? 'Choose a provider.' : undefined,
    name: required('Name', values.name),
    host: required('Host', values.host),
    username: hasUserName ? required('User name', values.username) : undefined,
    password: values.auth === 'password' && isNew ? required(passwordLabel(preset), values.password) : undefined,
    'oauth.client_id': values.auth === 'oauth2' && isNew ? required('Client ID', values.oauth.client_id) : undefined,
    'oauth.client_secret':
      values.auth === 'oauth2' && isNew ? required('Client secret', values.oauth.client_secret) : undefined,
    'oauth.refresh_token':
      values.auth === 'oauth2' && isNew ? required('Refresh token', values.oauth.refresh_token) : undefined,
    kinds: values.kinds.length === 0 ? 'Choose at least one.' : undefined,
  }
}

const numberOf = (value: NumberText): number | undefined => (value === '' ? undefined : Number(value))

export function connectionOf(values: Values): MailServerConnection {
  return {
    preset: values.preset === otherServer ? null : (values.preset as NonNullable<MailServerConnection['preset']>),
    host: values.host.trim(),
    ...(values.port !== '' && { port: Number(values.port) }),
    security: values.security,
    ...signInOf(values),
  }
}

/** Secrets that are not entered stay as they are. */
function signInOf({ auth, username, password, oauth }: Values): Partial<MailServerConnection> {
  switch (auth) {
    case 'none':
      return { username: null }
    case 'password':
      return { ...(username.trim() !== '' && { username: username.trim() }), ...(password !== '' && { password }) }
    case 'oauth2': {
      const { token_url: tokenUrl, ...client } = oauth
      const isEntered = Object.values(client).some((text) => text !== '')
      return {
        username: username.trim(),
        ...(isEntered && { oauth: { ...client, ...(tokenUrl !== '' && { token_url: tokenUrl.trim() }) } }),
      }
    }
  }
}

export function requestOf(values: Values): MailServerInput {
  const { priority, weight, connections } = values
  return {
    name: values.name.trim(),
    ...connectionOf(values),
    kinds: values.kinds as MailServer['kinds'],
    from_domains: values.from_domains.split(/[\s,]+/).filter((domain) => domain !== ''),
    ...(priority !== '' && { priority: Number(priority) }),
    ...(weight !== '' && { weight: Number(weight) }),
    ...(connections !== '' && { connections: Number(connections) }),
    messages_per_second: numberOf(values.messages_per_second) ?? null,
    messages_per_day: numberOf(values.messages_per_day) ?? null,
    shape_by_receiver: values.shape_by_receiver,
    is_shared: values.is_shared,
  }
}
