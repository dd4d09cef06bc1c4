import type { OrganizationId } from '../../values/ids.ts'
import { type Db, isConnectionFault } from '../db.ts'
import { firstValue } from '../rows.ts'

/**
 * Reads settings of the operator that all organizations use. On a distributed database, a copy of the rows is kept on the
 * coordinator; it is returned while the node of the operator is down.
 */
export async function readOfOperator<Row>(
  db: Db,
  name: 'mail servers' | 'receiving sites',
  operator: OrganizationId,
  read: () => Promise<readonly Row[]>,
): Promise<readonly Row[]> {
  if (!db.isDistributed) return read()
  try {
    const rows = await read()
    await saveCopy(db, name, JSON.stringify({ operator, rows }, withDates))
    return rows
  } catch (error) {
    if (!isConnectionFault(error)) throw error
    const text = await firstValue(db<{ content: string }>`
      select content::text from operator_copies where name = ${name}`)
    const copy = text === undefined ? undefined : (JSON.parse(text, revive) as { operator: string; rows: Row[] })
    if (copy?.operator !== operator) throw error
    return copy.rows
  }
}

const saveCopy = ({ statement }: Db, name: string, content: string) =>
  statement`
    insert into operator_copies (name, content) values (${name}, ${content}::jsonb)
    on conflict (name) do update set content = excluded.content
    where operator_copies.content <> excluded.content`

function withDates(this: Record<string, unknown>, key: string, value: unknown): unknown {
  return this[key] instanceof Date ? { type: 'Date', data: value } : value
}

function revive(_key: string, value: unknown): unknown {
  const { type, data } = (value ?? {}) as { type?: unknown; data?: unknown }
  if (type === 'Date') return new Date(data as string)
  return type === 'Buffer' ? Buffer.from(data as number[]) : value
}
