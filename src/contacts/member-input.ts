import { parseEmail } from '../email.ts'
import { type FieldProblem, invalid } from '../errors.ts'
import { type ContactId, newId } from '../ids.ts'
import { readAttributes, readName } from './fields.ts'

/** One person to be stored. A name that is undefined keeps what is known, '' clears it; attributes are merged in. */
export type Member = {
  /** The contact's id, if there is none with this address yet. */
  id: ContactId
  email: string
  emailKey: string
  firstName: string | undefined
  lastName: string | undefined
  /** JSON text. */
  attributes: string | undefined
}

export type Rejected = { index: number; email: string | null; field: string | null; problem: string }

/** Of an address that is none, as much as helps to find it. */
export const shownEmailMax = 320

/**
 * Reads members one by one, so that a bad one costs only itself. A person given twice counts once: what stands later
 * wins, field by field, and attributes are merged.
 */
export class MemberReader {
  readonly #byKey = new Map<string, Member>()
  readonly rejected: Rejected[] = []

  get members(): Member[] {
    return [...this.#byKey.values()]
  }

  get size(): number {
    return this.#byKey.size
  }

  /** True when it was taken. */
  add(input: unknown, index: number): boolean {
    if (typeof input !== 'object' || input === null || Array.isArray(input))
      return this.#reject(index, null, null, 'must be an object')
    const given = input as Record<string, unknown>
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
      earlier.firstName = firstName.value ?? earlier.firstName
      earlier.lastName = lastName.value ?? earlier.lastName
      earlier.attributes = mergeJson(earlier.attributes, attributes.value)
    } else {
      this.#byKey.set(email.key, {
        id: newId('con'),
        email: email.address,
        emailKey: email.key,
        firstName: firstName.value,
        lastName: lastName.value,
        attributes: attributes.value,
      })
    }
    return true
  }

  #reject(index: number, email: unknown, field: string | null, problem: string): false {
    const shown = typeof email === 'string' ? email.slice(0, shownEmailMax) : null
    this.rejected.push({ index, email: shown, field, problem })
    return false
  }
}

function mergeJson(earlier: string | undefined, later: string | undefined): string | undefined {
  if (earlier === undefined || later === undefined) return later ?? earlier
  return JSON.stringify({ ...JSON.parse(earlier), ...JSON.parse(later) })
}

export const sentenceOf = ({ field, problem }: Pick<Rejected, 'field' | 'problem'>): string =>
  field === null ? problem : `${field} ${problem}`

/** The refusal of a request of which nothing could be taken. */
export function allRejected(rejected: Rejected[]) {
  const fields = rejected.map(
    ({ index, field, problem }): FieldProblem => ({
      path: field === null ? `members.${index}` : `members.${index}.${field}`,
      problem,
    }),
  )
  return invalid(...(fields as [FieldProblem, ...FieldProblem[]]))
}
