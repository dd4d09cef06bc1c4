import { parseEmail } from '../../platform/values/email.ts'
import { type FieldProblem, invalid } from '../../platform/values/errors.ts'
import { type ContactId, newId } from '../../platform/values/ids.ts'
import { attributeKeysMax, attributesBytesMax, readAttributes, readName } from './fields.ts'

/** A contact to store. A name that is undefined keeps its value, and '' clears it; attributes are merged. */
export type Member = {
  /** The id to use if no contact has this address yet. */
  id: ContactId
  /** Its index in the request; the last one if it occurs more than once. */
  index: number
  email: string
  emailKey: string
  firstName: string | undefined
  lastName: string | undefined
  /** JSON text. */
  attributes: string | undefined
}

export type Rejected = { index: number; email: string | null; field: string | null; problem: string }

export const memberFields: ReadonlySet<string> = new Set(['email', 'first_name', 'last_name', 'attributes'])
/** One more is kept, to know that there are others. */
export const unknownFieldsMax = 10

/** How many characters of an invalid address are reported. */
export const shownEmailMax = 320

/**
 * Reads members one by one, so that an invalid one does not affect the others. A member that occurs twice counts once:
 * later fields win, and attributes are merged.
 */
export class MemberReader {
  readonly #byKey = new Map<string, Member>()
  /**
   * The attributes of members that occur more than once, by name and as JSON, so that merging costs no more than what
   * is added.
   */
  readonly #merged = new Map<string, MergedAttributes>()
  readonly rejected: Rejected[] = []
  /** Distinct names, of which a few are reported. */
  readonly unknownFields = new Set<string>()

  get members(): Member[] {
    for (const [key, merged] of this.#merged) this.#byKey.get(key)!.attributes = merged.toJson()
    return [...this.#byKey.values()]
  }

  get size(): number {
    return this.#byKey.size
  }

  /** Returns false if the member was rejected. */
  add(input: unknown, index: number): boolean {
    if (typeof input !== 'object' || input === null || Array.isArray(input))
      return this.#reject(index, null, null, 'must be an object')
    const given = input as Record<string, unknown>
    for (const name in given)
      if (!memberFields.has(name) && this.unknownFields.size <= unknownFieldsMax) this.unknownFields.add(name)
    const email = parseEmail(given.email)
    if (!email.ok) return this.#reject(index, given.email, 'email', email.problem)
    const firstName = readName(given.first_name)
    if (!firstName.ok) return this.#reject(index, email.address, 'first_name', firstName.problem)
    const lastName = readName(given.last_name)
    if (!lastName.ok) return this.#reject(index, email.address, 'last_name', lastName.problem)
    const attributes = readAttributes(given.attributes)
    if (!attributes.ok) return this.#reject(index, email.address, 'attributes', attributes.problem)

    const earlier = this.#byKey.get(email.key)
    if (earlier) {
      if (attributes.value !== undefined && !this.#merge(earlier, given.attributes as object))
        return this.#reject(index, email.address, 'attributes', attributesTooLarge)
      earlier.index = index
      earlier.firstName = firstName.value ?? earlier.firstName
      earlier.lastName = lastName.value ?? earlier.lastName
    } else {
      this.#byKey.set(email.key, {
        id: newId('con'),
        index,
        email: email.address,
        emailKey: email.key,
        firstName: firstName.value,
        lastName: lastName.value,
        attributes: attributes.value,
      })
    }
    return true
  }

  /** Returns false if the merged attributes exceed the limits of a contact. */
  #merge(earlier: Member, attributes: object): boolean {
    let merged = this.#merged.get(earlier.emailKey)
    if (!merged) {
      merged = new MergedAttributes(earlier.attributes === undefined ? {} : JSON.parse(earlier.attributes))
      this.#merged.set(earlier.emailKey, merged)
    }
    return merged.add(attributes)
  }

  #reject(index: number, email: unknown, field: string | null, problem: string): false {
    const shown = typeof email === 'string' ? email.slice(0, shownEmailMax) : null
    this.rejected.push({ index, email: shown, field, problem })
    return false
  }
}

export const attributesTooLarge = `must have at most ${attributeKeysMax} keys and ${attributesBytesMax} bytes as JSON, including the existing attributes of the contact`

/** The attributes of one contact from several members; the later value of a name wins. */
class MergedAttributes {
  readonly #values = new Map<string, string>()
  /** The length of the JSON text, with a comma or brace per value. */
  #bytes = 1

  constructor(attributes: object) {
    this.add(attributes)
  }

  /** Returns false, and adds nothing, if all attributes together are too many or too large. */
  add(attributes: object): boolean {
    const entries = Object.entries(attributes).map(([name, value]) => [name, JSON.stringify(value)] as const)
    let [keys, bytes] = [this.#values.size, this.#bytes]
    for (const [name, value] of entries) {
      const earlier = this.#values.get(name)
      if (earlier === undefined) keys++
      else bytes -= bytesOf(name, earlier)
      bytes += bytesOf(name, value)
    }
    if (keys > attributeKeysMax || bytes > attributesBytesMax) return false
    for (const [name, value] of entries) this.#values.set(name, value)
    this.#bytes = bytes
    return true
  }

  toJson(): string {
    return `{${[...this.#values].map(([name, value]) => `${JSON.stringify(name)}:${value}`).join(',')}}`
  }
}

const bytesOf = (name: string, value: string) => Buffer.byteLength(JSON.stringify(name)) + Buffer.byteLength(value) + 2

export const sentenceOf = ({ field, problem }: Pick<Rejected, 'field' | 'problem'>): string =>
  field === null ? problem : `${field} ${problem}`

/** Returns the refusal of a request without any valid member. */
export function allRejected(rejected: Rejected[]) {
  const fields = rejected.map(
    ({ index, field, problem }): FieldProblem => ({
      path: field === null ? `members.${index}` : `members.${index}.${field}`,
      problem,
    }),
  )
  return invalid(...(fields as [FieldProblem, ...FieldProblem[]]))
}
