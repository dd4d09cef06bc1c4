import { findChangeWebhooks, recordContactChanges } from '../../events/events.ts'
import type { Db, Tx } from '../../platform/db/db.ts'
import { isCheapJson } from '../../platform/http/json-body.ts'
import type { Stage } from '../../platform/runtime/stage.ts'
import type { StageRegistry } from '../../platform/runtime/stage-registry.ts'
import type { TaskPool } from '../../platform/tasks/pool.ts'
import type { Actor } from '../../platform/values/actor.ts'
import { notFound } from '../../platform/values/errors.ts'
import { parseIdParam } from '../../platform/values/id-params.ts'
import type { GroupId, OrganizationId } from '../../platform/values/ids.ts'
import { checkGroup } from './groups.ts'
import { sourceOf } from './history.ts'
import { lockGroups } from './locks.ts'
import { allRejected, attributesTooLarge, type Member, type Rejected } from './member-input.ts'
import { type ChangedMember, type Destination, insertMembers, updateMembers } from './members.sql.ts'
import { readMembers, readMembersTask } from './members.task.ts'
import { inTransaction } from './transaction.ts'

/**
 * Larger bodies are parsed in a task process. The most expensive content found, addresses with IDN domains, took 37 ms
 * of CPU time for 128 KiB on a busy machine.
 */
const inlineBytesMax = 16 * 1024
/**
 * Requests stored at the same time. Each uses a connection and some megabytes; the others wait here rather than for
 * connections that other requests need.
 */
const additions = { perOrganization: 1, overall: 3, waitingPerOrganization: 20, waitMs: 30_000 }

export type Stored = {
  created: number
  updated: number
  added: number
  alreadyMembers: number
  /** Not stored, because their attributes together with those in the database exceed the limits. */
  tooLarge: Member[]
  /** Of an import: the contacts that were changed. */
  changed: ChangedMember[]
}
export type AddedMembers = Omit<Stored, 'tooLarge' | 'changed'> & {
  groupId: GroupId
  received: number
  rejected: Rejected[]
  unknownFields: string[]
}

type Addition = { organizationId: OrganizationId; groupId: GroupId; members: Member[]; actor: Actor }

/** Adds many contacts to a group, a few requests at a time. */
export class MemberAdder {
  readonly #db: Db
  readonly #tasks: TaskPool
  readonly #additions: Stage

  constructor(db: Db, stages: StageRegistry, tasks: TaskPool) {
    this.#db = db
    this.#tasks = tasks
    this.#additions = stages.stage('add members', 'service', additions)
  }

  /**
   * Stores the valid members of a request and reports the others. Throws `Refusal` if none is valid, or if the group does
   * not exist.
   */
  async add(organizationId: OrganizationId, body: Buffer, actor: Actor): Promise<AddedMembers> {
    const { groupId: groupText, received, members, rejected, unknownFields } = await this.#read(organizationId, body)
    const groupId = parseIdParam('grp', groupText)
    if (members.length === 0) {
      await checkGroup(this.#db, organizationId, groupId)
      throw allRejected(rejected)
    }
    const {
      tooLarge,
      changed: _changed,
      ...stored
    } = await this.#additions.run(organizationId, () =>
      storeInGroup(this.#db, { organizationId, groupId, members, actor }),
    )
    for (const { index, email } of tooLarge)
      rejected.push({ index, email, field: 'attributes', problem: attributesTooLarge })
    if (stored.created + stored.updated === 0) throw allRejected(rejected)
    return {
      ...stored,
      groupId,
      received,
      rejected: rejected.sort((one, other) => one.index - other.index),
      unknownFields,
    }
  }

  async #read(organizationId: OrganizationId, body: Buffer) {
    if (body.length <= inlineBytesMax && isCheapJson(body)) return readMembers(body)
    return this.#tasks.run(readMembersTask, { organizationId, input: body })
  }
}

function storeInGroup(db: Db, { organizationId, groupId, members, actor }: Addition): Promise<Stored> {
  return inTransaction(db.by(actor), async (tx) => {
    if (!(await lockGroups(tx, organizationId, [groupId]))) throw notFound('group')
    return storeMembers(tx, organizationId, { groupId, subscription: 'subscribed' }, members)
  })
}

/**
 * Stores members as contacts and adds them to the group, if there is one. Existing contacts are updated with the given
 * fields and keep their subscription, except that `not_subscribed` ones can become subscribed. The addresses must
 * differ, and the group must be locked.
 */
export async function storeMembers(
  tx: Tx,
  organizationId: OrganizationId,
  destination: Destination,
  members: Member[],
): Promise<Stored> {
  const [webhooks, created] = await Promise.all([
    findChangeWebhooks(tx, organizationId),
    insertMembers(tx, organizationId, destination, members),
  ])
  // The ids are new, so they belong to the created contacts.
  if (webhooks.length > 0 && created > 0)
    await recordContactChanges(tx, organizationId, sourceOf(tx), { created: members.map(({ id }) => id) }, webhooks)
  const known = members.length - created
  if (known === 0) return { ...noneStored, created, added: created }
  const { added, tooLarge, changed } = await updateMembers(tx, organizationId, destination, members, {
    returnsChanged: webhooks.length > 0 || tx.actor.type === 'import',
  })
  if (changed.length > 0)
    await recordContactChanges(
      tx,
      organizationId,
      sourceOf(tx),
      {
        updated: changed.filter(({ fields }) => fields.length > 0),
        subscribed: changed.filter(({ isNewlySubscribed }) => isNewlySubscribed).map(({ id }) => id),
      },
      webhooks,
    )
  const keys = new Set(tooLarge)
  const updated = known - keys.size
  return {
    created,
    updated,
    added: created + added,
    alreadyMembers: updated - added,
    changed,
    tooLarge: keys.size > 0 ? members.filter(({ emailKey }) => keys.has(emailKey)) : [],
  }
}

export const noneStored: Stored = { created: 0, updated: 0, added: 0, alreadyMembers: 0, tooLarge: [], changed: [] }
