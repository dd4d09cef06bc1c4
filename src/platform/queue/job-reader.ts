import { perOrganization } from '../db/cluster/batches.ts'
import type { Db } from '../db/db.ts'
import { enterSection } from '../runtime/event-loop.ts'
import type { OrganizationId } from '../values/ids.ts'
import type { ClaimedLanes } from './claimed-lanes.ts'
import { type Lane, laneName } from './lane.ts'
import { type LaneRead, readJobs } from './lanes.sql.ts'
import type { Claim } from './queue.ts'
import { endJobs } from './settle-jobs.ts'
import type { WorkerSpec } from './worker-spec.ts'

/**
 * A job and the generation of its lane when it was read. If the lane was reset since, the job is discarded and read
 * again.
 */
export type ReadJob<Work> = { organizationId: OrganizationId; owner: Lane<Work>; generation: number; claim: Claim }

/** Reads the jobs of claimed lanes and loads their input. Then they are ready in their lanes. */
export class JobReader<Work> {
  readonly #db: Db
  readonly #spec: WorkerSpec<Work>
  readonly #lanes: ClaimedLanes<Work>
  readonly #section: string

  constructor(db: Db, spec: WorkerSpec<Work>, lanes: ClaimedLanes<Work>, section: string) {
    this.#db = db
    this.#spec = spec
    this.#lanes = lanes
    this.#section = section
  }

  /**
   * Reads ahead for every lane that has room, in one statement. No job is started during the read, so freed slots are
   * filled from one large read instead of many small ones.
   */
  async readAhead(): Promise<void> {
    const now = performance.now()
    const all = this.#lanes.all()
    const busy = all.filter((lane) => !lane.isIdle).length
    const share = Math.ceil(this.#spec.inFlightMax / Math.max(1, busy))
    if (!all.some((lane) => lane.shouldRead(now, share))) return
    const lanes = all.filter((lane) => lane.shouldRead(now, share) || lane.joinsRead(now, share))
    const reads = lanes.map((owner) => {
      const { organizationId, lane, token, generation } = owner
      return { owner, generation, rows: 0, organizationId, lane, token, ...owner.nextRead(now, share) }
    })
    const readOf = new Map(reads.map((read) => [laneName(read), read]))
    const taken: ReadJob<Work>[] = []
    const read = (own: readonly LaneRead[]) => readJobs(this.#db.forRows(own.length), this.#spec.kind, own)
    const rows = await perOrganization(this.#db, reads, read, this.#lanes.onFault)
    for (const row of rows) {
      const read = readOf.get(laneName(row))!
      const { owner, generation, token } = read
      read.rows++
      if (generation === owner.generation && owner.addRow(row.id, row.dueAt))
        taken.push({
          organizationId: row.organizationId,
          owner,
          generation,
          claim: { kind: this.#spec.kind, token, ...row },
        })
    }
    for (const { owner, rows, limit } of reads) {
      owner.endRead()
      if (rows === limit) owner.hasMore = true
    }
    if (taken.length > 0) await this.load(taken)
  }

  async load(taken: ReadJob<Work>[]): Promise<void> {
    enterSection(this.#section)
    const load = async (jobs: readonly ReadJob<Work>[]) => {
      const works = await this.#spec.load(jobs.map(({ claim }) => claim)).catch((error) => {
        // Nothing has been settled: discard the jobs read so far and read them again later.
        for (const { owner, claim } of jobs) owner.remove(claim.id)
        for (const { owner } of jobs) owner.reset()
        throw error
      })
      return jobs.map((job, index) => ({ job, work: works[index] }))
    }
    const onFault = (jobs: readonly ReadJob<Work>[], error: unknown) =>
      this.#lanes.onFault(
        jobs.map(({ owner }) => owner),
        error,
      )
    const gone: Claim[] = []
    for (const { job, work } of await perOrganization(this.#db, taken, load, onFault)) {
      const { owner, generation, claim } = job
      if (work === undefined) gone.push(claim)
      if (work === undefined || generation !== owner.generation) owner.remove(claim.id)
      else owner.ready.push({ claim, work })
    }
    if (gone.length > 0)
      await endJobs(
        this.#db,
        gone.map((claim) => ({ claim, retryInMs: null })),
      )
  }
}
