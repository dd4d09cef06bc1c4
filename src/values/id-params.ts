import { notFound, type RecordKind } from './errors.ts'
import { parseId } from './ids.ts'

const kinds = {
  blk: 'bulk action',
  brc: 'broadcast',
  con: 'contact',
  dlv: 'delivery',
  evt: 'event',
  flw: 'flow',
  grp: 'group',
  imp: 'import',
  inv: 'invitation',
  key: 'API key',
  msg: 'message',
  seg: 'segment',
  ses: 'session',
  usr: 'member',
  whk: 'webhook',
} as const satisfies Record<string, RecordKind>

type ParsedId<Prefix extends keyof typeof kinds> = NonNullable<ReturnType<typeof parseId<Prefix>>>

/** Parses an id from a request. Throws the `Refusal` of a record that does not exist if the text cannot be such an id. */
export function parseIdParam<Prefix extends keyof typeof kinds>(prefix: Prefix, text: string): ParsedId<Prefix> {
  const id = parseId(prefix, text)
  if (!id) throw notFound(kinds[prefix])
  return id
}
