import { Batcher } from '../batcher.ts'
import type { Db, Tx } from '../db/db.ts'
import { invalid, Refusal } from '../errors.ts'
import { type GroupId, type OrganizationId, parseId } from '../ids.ts'
import type { Actor } from './history.sql.ts'
import { allRejected, type Member, MemberReader, type Rejected } from './member-input.ts'
import { type Destination, holdGroups, insertMembers, updateMembers } from './members.sql.ts'
import { inTransaction } from './transaction.ts'

export const membersMax = 10_000
/** Each holds a connection and some megabytes; the rest wait here rather than for connections that others need. */
const atOnceMax = 3
const waitingMax = 30

export type Stored = { created: number; updated: number; added: number; alreadyMembers: number }
export type AddedMembers = Stored & { groupId: GroupId; received: number; rejected: Rejected[] }

type Addition = { organizationId: OrganizationId; groupId: GroupId; members: Member[]; actor: Actor }

/** Adds many people to a group at once, some requests at a time. */
export class MemberAdder {
  readonly #db: Db
  readonly #additions: Batcher<Addition, Stored>

  constructor(db: Db) {
    this.#db = db
    this.#additions = new Batcher({
      name: 'add members',
      run: async ([addition]) => [{ ok: true, value: await storeInGroup(db, addition!) }],
      itemsMax: 1,
      concurrency: atOnceMax,
      waitingMax,
    })
  }

  /** Takes what is good of it and says what is not; refuses when nothing is, or when there is no such group. */
  async add(organizationId: OrganizationId, body: unknown, actor: Actor): Promise<AddedMembers> {
    const { groupId: groupText, inputs } = readFrame(body)
    const groupId = parseId('grp', groupText)
    if (!groupId) throw noSuchGroup()
    const reader = new MemberReader()
    inputs.forEach((input, index) => {
      reader.add(input, index)
    })
    if (reader.size === 0) {
      if (!(await holdGroups(this.#db.alone, organizationId, [groupId]))) throw noSuchGroup()
      throw allRejected(reader.rejected)
    }
    const stored = await this.#additions.add({ organizationId, groupId, members: reader.members, actor })
    return { ...stored, groupId, received: inputs.length, rejected: reader.rejected }
  }
}

export const noSuchGroup = () => new Refusal('not_found', 'There is no such group.')

/** Everything but the members, which are judged one by one. */
function readFrame(body: unknown): { groupId: string; inputs: unknown[] } {
  if (typeof body !== 'object' || body === null) throw invalid({ path: 'body', problem: 'must be an object' })
  const { group_id: groupId, members } = body as Record<string, unknown>
  if (typeof groupId !== 'string') throw invalid({ path: 'group_id', problem: wantsOr(groupId, 'must be a string') })
  if (!Array.isArray(members)) throw invalid({ path: 'members', problem: wantsOr(members, 'must be an array') })
  if (members.length === 0) throw invalid({ path: 'members', problem: 'must have at least 1 element' })
  if (members.length > membersMax)
    throw invalid({ path: 'members', problem: `must have at most ${membersMax} elements` })
  return { groupId, inputs: members }
}

const wantsOr = (value: unknown, problem: string) => (value === undefined ? 'is required' : problem)

function storeInGroup(db: Db, { organizationId, groupId, members, actor }: Addition): Promise<Stored> {
  return inTransaction(db, async (tx) => {
    if (!(await holdGroups(tx, organizationId, [groupId]))) throw noSuchGroup()
    return storeMembers(tx, organizationId, { groupId, subscription: 'subscribed' }, members, actor)
  })
}

/**
 * Stores people as contacts and, where a group is named, as its members. Known contacts are updated with what was given;
 * whoever is subscribed or unsubscribed stays so. The members' addresses must differ, and the group be held.
 */
export async function storeMembers(
  tx: Tx,
  organizationId: OrganizationId,
  destination: Destination,
  members: Member[],
  actor: Actor,
): Promise<Stored> {
  const created = await insertMembers(tx, organizationId, destination, members, actor)
  const updated = members.length - created
  const joined = updated > 0 ? await updateMembers(tx, organizationId, destination, members, actor) : 0
  return { created, updated, added: created + joined, alreadyMembers: updated - joined }
}
