import type { SealedTable } from '../../platform/db/sealed.ts'
import { type AppSecrets, SecretBox } from '../../platform/secrets/secrets.ts'
import type { SealedSecrets } from './signing-secrets.sql.ts'

export const unreadableSecret = 'the signing secret was encrypted with another APP_SECRET: rotate it'

export const webhookSecrets: SealedTable = {
  name: 'webhooks',
  purpose: 'webhook secrets',
  needed: ['secret'],
  others: ['previous_secret'],
  words: {
    values: 'secrets',
    row: 'webhook',
    consequence: 'their deliveries stay pending',
    remedy: 'rotate the secret of each webhook',
  },
}

export const webhookSecretBox = (secrets: AppSecrets): SecretBox => new SecretBox(secrets, webhookSecrets.purpose)

/** Returns undefined if the current secret cannot be decrypted. Skips a previous secret that cannot be decrypted. */
export function openSecrets({ secret, previousSecret }: SealedSecrets, open: (sealed: Buffer) => string | undefined) {
  const current = open(secret)
  const previous = previousSecret && open(previousSecret)
  if (current === undefined) return undefined
  return previous ? [current, previous] : [current]
}
