import { Input, PasswordInput, SegmentedControl, TextInput } from '@mantine/core'
import type { MailServer, MailServerPreset } from '../../api/types.ts'
import type { FormFields } from './form-fields.ts'
import { passwordLabel, type Values } from './form-values.ts'

const methods: { value: Values['auth']; label: string }[] = [
  { value: 'password', label: 'Password' },
  { value: 'oauth2', label: 'OAuth 2' },
  { value: 'none', label: 'None' },
]

type Props = { form: FormFields; preset: MailServerPreset | undefined; server: MailServer | undefined }

export function SignInFields({ form, preset, server }: Props) {
  const { auth } = form.values
  const offered = methods.filter(
    ({ value }) => !preset || value === 'password' || value === auth || (value === 'oauth2' && preset.oauth !== null),
  )
  const isKept = server !== undefined && server.auth === auth
  const kept = isKept ? 'Leave empty to keep the current one' : 'Stored encrypted, and never shown again'
  return (
    <>
      {offered.length > 1 && (
        <Input.Wrapper label="Sign in with">
          <SegmentedControl
            display="flex"
            mt={4}
            aria-label="Sign in with"
            data={offered}
            value={auth}
            onChange={(value) => form.set({ auth: value as Values['auth'] })}
          />
        </Input.Wrapper>
      )}
      {auth !== 'none' && !preset?.username_is_password && (
        <TextInput
          label="User name"
          required
          autoComplete="off"
          maxLength={1_024}
          {...(preset && { placeholder: preset.username_hint })}
          {...form.field('username')}
        />
      )}
      {auth === 'password' && (
        <PasswordInput
          label={passwordLabel(preset)}
          description={kept}
          required={!isKept}
          autoComplete="new-password"
          {...(preset && !preset.username_is_password && { placeholder: preset.password_hint })}
          {...form.field('password')}
        />
      )}
      {auth === 'oauth2' && (
        <>
          <TextInput label="Client ID" required={!isKept} autoComplete="off" {...form.field('oauth.client_id')} />
          <PasswordInput
            label="Client secret"
            description={kept}
            required={!isKept}
            autoComplete="new-password"
            {...form.field('oauth.client_secret')}
          />
          <PasswordInput
            label="Refresh token"
            description={kept}
            required={!isKept}
            autoComplete="new-password"
            {...form.field('oauth.refresh_token')}
          />
          <TextInput
            label="Token URL"
            type="url"
            inputMode="url"
            required={!preset?.oauth && !isKept}
            {...(preset?.oauth && {
              placeholder: preset.oauth.token_url,
              description: 'Leave empty to use the usual one',
            })}
            {...form.field('oauth.token_url')}
          />
        </>
      )}
    </>
  )
}
