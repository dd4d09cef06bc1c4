import { isUtf8 } from 'node:buffer'
import { defineTask } from '../../platform/tasks/task.ts'
import { invalid, Refusal } from '../../platform/values/errors.ts'
import { type Member, MemberReader, type Rejected } from './member-input.ts'

export const membersMax = 10_000

export type ReadMembers = {
  groupId: string
  received: number
  members: Member[]
  rejected: Rejected[]
  /** Names of fields that members do not have. */
  unknownFields: string[]
}

/** Parses the body of a request to add members, validates each member and merges those that occur twice. */
export const readMembersTask = defineTask({
  name: 'contacts.members',
  title: 'Reading these members',
  msMax: 20_000,
  run: readMembers,
})

/** Throws `Refusal` if the body as a whole is invalid. Invalid members are returned in `rejected`. */
export function readMembers(body: Uint8Array): ReadMembers {
  const { groupId, inputs } = readFrame(parseBody(body))
  const reader = new MemberReader()
  inputs.forEach((input, index) => {
    reader.add(input, index)
  })
  return {
    groupId,
    received: inputs.length,
    members: reader.members,
    rejected: reader.rejected,
    unknownFields: [...reader.unknownFields],
  }
}

function parseBody(body: Uint8Array): unknown {
  // Decoding would replace invalid bytes by U+FFFD and store them.
  if (!isUtf8(body)) throw new Refusal('invalid_json', 'The body is not valid JSON: it is not UTF-8.')
  const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString()
  try {
    // `__proto__` is dropped, as in all other request bodies.
    return /proto|\\u/.test(text)
      ? JSON.parse(text, (name, value) => (name === '__proto__' ? undefined : value))
      : JSON.parse(text)
  } catch {
    throw new Refusal('invalid_json', 'The body is not valid JSON.')
  }
}

/** Reads everything except the members, which are validated one by one. */
function readFrame(body: unknown): { groupId: string; inputs: unknown[] } {
  if (typeof body !== 'object' || body === null) throw invalid({ path: 'body', problem: 'must be an object' })
  const { group_id: groupId, members } = body as Record<string, unknown>
  if (typeof groupId !== 'string') throw invalid({ path: 'group_id', problem: requiredOr(groupId, 'must be a string') })
  if (!Array.isArray(members)) throw invalid({ path: 'members', problem: requiredOr(members, 'must be an array') })
  if (members.length === 0) throw invalid({ path: 'members', problem: 'must have at least 1 element' })
  if (members.length > membersMax)
    throw invalid({ path: 'members', problem: `must have at most ${membersMax} elements` })
  return { groupId, inputs: members }
}

const requiredOr = (value: unknown, problem: string) => (value === undefined ? 'is required' : problem)
