import { Gauge, type Registry } from 'prom-client'
import { Batcher, type BatcherOptions } from './batcher.ts'
import { Stage, type StageLimits } from './stage.ts'
import type { StageState } from './stage-state.ts'

/**
 * The stages of a process that organizations share. Everything that limits work of several organizations is created by it
 * or added to it under a name, so that a test can list the stages of a running service and check the share of each.
 */
export class StageRegistry {
  readonly #stages = new Map<string, StageState>()

  /** Creates a stage. */
  stage(name: string, limits: StageLimits): Stage {
    return this.add(name, new Stage(limits))
  }

  /** Creates a batcher. Those of the database are created by `createBatcher`. */
  batcher<Item, Result>(options: BatcherOptions<Item, Result>): Batcher<Item, Result> {
    return this.add(options.name, new Batcher(options, this.heavyOf(options)))
  }

  /** Creates the stage of the items that are too heavy for a batch. */
  heavyOf<Item>({ name, weights }: Pick<BatcherOptions<Item, unknown>, 'name' | 'weights'>): Stage | undefined {
    return weights && this.stage(`${name}: heavy`, weights.heavy)
  }

  /** Throws if there is another stage with this name. */
  add<State extends StageState>(name: string, stage: State): State {
    if (this.#stages.has(name)) throw new Error(`There are two stages with the name ${name}`)
    this.#stages.set(name, stage)
    return stage
  }

  list(): (StageState & { name: string })[] {
    return [...this.#stages].map(([name, { used, waiting, limits }]) => ({ name, used, waiting, limits }))
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
        for (const [stage, { used, waiting }] of stages) {
          this.set({ stage, state: 'running' }, used)
          this.set({ stage, state: 'waiting' }, waiting)
        }
      },
    })
  }
}
