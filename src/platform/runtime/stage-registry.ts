import { Gauge, type Registry } from 'prom-client'
import { Batcher, type BatcherOptions } from './batcher.ts'
import { Stage, type StageLimits, type StageOptions } from './stage.ts'
import type { StageState } from './stage-state.ts'

/**
 * Who decides how long a place is held: this service; a client, which may send slowly; or a peer that an organization
 * chooses, which may not respond. Of places that others hold, one organization has a tenth at most.
 */
export type Holder = 'service' | 'client' | 'peer'

type Listed = { stage: StageState; heldBy: Holder }

/**
 * The stages of a process that organizations share. Everything that limits work of several organizations is created by it
 * or added to it under a name, so that a test can list the stages of a running service and check the share of each.
 */
export class StageRegistry {
  readonly #stages = new Map<string, Listed>()
  readonly #isNew: StageOptions['isNew']

  constructor({ isNew }: Pick<StageOptions, 'isNew'> = {}) {
    this.#isNew = isNew
  }

  /** Creates a stage. */
  stage(name: string, heldBy: Holder, limits: StageLimits): Stage {
    return this.add(name, new Stage({ ...limits, isNew: this.#isNew }), heldBy)
  }

  /** Creates a batcher. Those of the database are created by `createBatcher`. */
  batcher<Item, Result>(options: BatcherOptions<Item, Result>): Batcher<Item, Result> {
    return this.add(options.name, new Batcher(options, this.heavyOf(options)))
  }

  /** Creates the stage of the items that are too heavy for a batch. */
  heavyOf<Item>({ name, weights }: Pick<BatcherOptions<Item, unknown>, 'name' | 'weights'>): Stage | undefined {
    return weights && this.stage(`${name}: heavy`, 'service', weights.heavy)
  }

  /** Throws if there is another stage with this name. */
  add<State extends StageState>(name: string, stage: State, heldBy: Holder = 'service'): State {
    if (this.#stages.has(name)) throw new Error(`There are two stages with the name ${name}`)
    this.#stages.set(name, { stage, heldBy })
    return stage
  }

  list(): (StageState & { name: string; heldBy: Holder })[] {
    return [...this.#stages].map(([name, { stage, heldBy }]) => {
      const { used, waiting, limits } = stage
      return { name, heldBy, used, waiting, limits }
    })
  }

  /** Registers gauges of the places that are used and of the calls that wait, by stage. */
  measure(metrics: Registry): void {
    const help = 'Work that organizations share, by stage: places in use, and calls that wait for one.'
    const stages = this.#stages
    new Gauge({
      name: 'waxwing_stage_calls',
      help,
      labelNames: ['stage', 'state'],
      registers: [metrics],
      collect() {
        for (const [name, { stage }] of stages) {
          this.set({ stage: name, state: 'running' }, stage.used)
          this.set({ stage: name, state: 'waiting' }, stage.waiting)
        }
      },
    })
  }
}
