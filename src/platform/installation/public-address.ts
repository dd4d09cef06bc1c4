import type { Config } from '../config/config.ts'
import type { Db, Reader } from '../db/db.ts'
import { findBaseUrl, saveBaseUrl } from './installation-settings.sql.ts'

/** Returns the settings with the public address that is used. For commands. */
export const withPublicAddress = async (db: Reader, config: Config): Promise<Config> =>
  config.isBaseUrlSet ? config : { ...config, BASE_URL: (await findBaseUrl(db)) ?? config.BASE_URL }

/**
 * The public address of the installation, with which links start: BASE_URL, or else what an operator has entered in the web
 * app. It changes while the service runs, so it is read where it is used.
 */
export class PublicAddress {
  readonly #db: Db
  readonly #config: Pick<Config, 'BASE_URL' | 'isBaseUrlSet'>
  #entered: string | undefined

  constructor(db: Db, config: Pick<Config, 'BASE_URL' | 'isBaseUrlSet'>) {
    this.#db = db
    this.#config = config
  }

  get url(): string {
    return this.#entered ?? this.#config.BASE_URL
  }

  get source(): 'environment' | 'app' | 'default' {
    if (this.#config.isBaseUrlSet) return 'environment'
    return this.#entered === undefined ? 'default' : 'app'
  }

  /** Must be called before the first email is composed, and regularly afterwards. Asks nothing if BASE_URL is set. */
  async refresh(): Promise<void> {
    if (!this.#config.isBaseUrlSet) this.#entered = (await findBaseUrl(this.#db)) ?? undefined
  }

  /** Other processes notice it within seconds (`addressCheckMs`). Null: http://localhost:PORT. */
  async change(url: string | null): Promise<void> {
    await saveBaseUrl(this.#db.statement, url)
    this.#entered = url ?? undefined
  }
}
