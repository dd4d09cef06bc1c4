import { type NewSecret, prepareSecret } from '../../platform/secrets/restore-secret.ts'
import { SetupFault } from '../../platform/values/errors.ts'

export type StoredSecret = { current: string; previous: string | null }

export const isStoredSecret = (value: unknown): value is StoredSecret =>
  typeof value === 'object' && value !== null && 'current' in value && typeof value.current === 'string'

/** The settings APP_SECRET and APP_SECRET_PREVIOUS, and DATA_DIR, where a secret is stored if APP_SECRET is unset. */
export type SecretPlace = { setting: string | undefined; previousSetting: string | undefined; dataDir: string }

/** Throws `SetupFault` if APP_SECRET differs from the secret with which the backup is encrypted and signed. */
export function checkSecret({ current }: StoredSecret, { setting, previousSetting }: SecretPlace): void {
  if (setting === undefined || setting === current || previousSetting === current) return
  throw new SetupFault(
    'The backup was made with another APP_SECRET. Set APP_SECRET to that secret, or set APP_SECRET_PREVIOUS to it, or unset APP_SECRET, so that the secret of the backup is stored in DATA_DIR. Nothing was changed.',
  )
}

/** Writes the secret to DATA_DIR if APP_SECRET is unset. It is used after `publish`. */
export const prepareRestoredSecret = async (
  { current }: StoredSecret,
  { setting, dataDir }: SecretPlace,
): Promise<NewSecret | undefined> => (setting === undefined ? prepareSecret(dataDir, current) : undefined)
