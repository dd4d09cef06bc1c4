/** What a running service tells of work that organizations share. */
export type StageState = {
  /** Places that are in use, or batches that run. */
  readonly used: number
  readonly waiting: number
  readonly limits: {
    /** The places that one organization may use of all. `in turn`: it has no places, but its turn in each batch. */
    readonly perOrganization: number | 'in turn'
    readonly overall?: number
    readonly waitingPerOrganization: number
    readonly waitingMax: number
  }
}
