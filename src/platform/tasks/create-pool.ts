import { Counter, type Registry } from 'prom-client'
import type { Log } from '../runtime/log.ts'
import { measure } from '../runtime/measure.ts'
import type { StageRegistry } from '../runtime/stage-registry.ts'
import { TaskPool, type TaskPoolOptions, type TaskReport } from './pool.ts'

type Options = Pick<TaskPoolOptions, 'processes' | 'spare'> & { registry: Registry; stages: StageRegistry; log: Log }

/** Creates the task pool of the service with its metrics. */
export function createTaskPool({ processes, spare, registry, stages, log }: Options): TaskPool {
  const outcomes = new Counter({
    name: 'waxwing_tasks_total',
    help: 'Tasks run in task processes, by task and outcome (done, refused, failed, timedOut, outOfMemory, died, full, moved).',
    labelNames: ['task', 'outcome'],
    registers: [registry],
  })
  const onOutcome = ({ task, organizationId, outcome, reason }: TaskReport) => {
    outcomes.inc({ task, outcome })
    if (outcome === 'timedOut' || outcome === 'outOfMemory' || outcome === 'died')
      log.warn({ task, organizationId, outcome, reason }, 'Task process was killed')
  }
  const pool = stages.add('tasks', new TaskPool({ processes, onOutcome, spare }))
  stages.add('long tasks', pool.long)
  measure(registry, 'waxwing_tasks_running', 'Tasks currently running in task processes.', () => pool.used)
  measure(registry, 'waxwing_tasks_queued', 'Tasks waiting for a task process.', () => pool.waiting)
  return pool
}
