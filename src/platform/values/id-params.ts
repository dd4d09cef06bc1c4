import { notFound, recordKinds } from './errors.ts'
import { type IdOf, parseId } from './ids.ts'

/** Parses an id from a request. Throws the `Refusal` of a record that does not exist if the text cannot be such an id. */
export function parseIdParam<Prefix extends keyof typeof recordKinds>(prefix: Prefix, text: string): IdOf[Prefix] {
  const id = parseId(prefix, text)
  if (!id) throw notFound(recordKinds[prefix])
  return id
}
