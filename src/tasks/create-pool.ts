import { Counter, Gauge, type Registry } from 'prom-client'
import type { Log } from '../runtime/log.ts'
import { TaskPool, type TaskReport } from './pool.ts'

type Options = { processes: number; registry: Registry; log: Log }

/** The pool of the service, with its figures for operators. */
export function createTaskPool({ processes, registry, log }: Options): TaskPool {
  const registers = [registry]
  const outcomes = new Counter({
    name: 'waxwing_tasks_total',
    help: 'Tasks run in task processes, by task and outcome (done, refused, failed, timedOut, outOfMemory, died, full).',
    labelNames: ['task', 'outcome'],
    registers,
  })
  const onOutcome = ({ task, organizationId, outcome, reason }: TaskReport) => {
    outcomes.inc({ task, outcome })
    if (outcome === 'timedOut' || outcome === 'outOfMemory' || outcome === 'died')
      log.warn({ task, organizationId, outcome, reason }, 'A task process was ended')
  }
  const pool = new TaskPool({ processes, onOutcome })
  new Gauge({
    name: 'waxwing_tasks_running',
    help: 'Tasks that run in task processes now.',
    registers,
    collect() {
      this.set(pool.running)
    },
  })
  new Gauge({
    name: 'waxwing_tasks_queued',
    help: 'Tasks that wait for a task process.',
    registers,
    collect() {
      this.set(pool.queued)
    },
  })
  return pool
}
