import type { Config } from '../../platform/config/config.ts'
import { passphrase } from '../../platform/config/setting-values.ts'
import { SetupFault } from '../../platform/values/errors.ts'
import type { Flags } from './call.ts'
import { readLine } from './password-flag.ts'

/**
 * The passphrase of a backup: from standard input with `--passphrase-stdin`, else from BACKUP_PASSPHRASE. Returns
 * undefined if there is none. Throws `SetupFault` if it is too short.
 */
export async function readPassphrase(flags: Flags, config: Config): Promise<string | undefined> {
  if (!flags['passphrase-stdin']) return config.BACKUP_PASSPHRASE
  const line = await readLine('passphrase')
  try {
    return passphrase(line)
  } catch (error) {
    throw new SetupFault(`The passphrase ${(error as Error).message}.`)
  }
}
