import type { Reader, Writer } from '../db/db.ts'
import { firstValue } from '../db/rows.ts'

export const findBaseUrl = (db: Reader) =>
  firstValue(db<{ baseUrl: string | null }>`select base_url from installation_settings`)

export const saveBaseUrl = (db: Writer, baseUrl: string | null) =>
  db`
    insert into installation_settings (base_url) values (${baseUrl})
    on conflict (only_row) do update set base_url = excluded.base_url`
