import { type Reply, type Request, toReply } from './protocol.ts'
import type { AnyTask } from './task.ts'

/** Runs in the child process: executes tasks one at a time until the service closes the channel. */
export function serveTasks(tasks: readonly AnyTask[]): void {
  const byName = new Map(tasks.map((task) => [task.name, task.run as (input: unknown) => unknown]))
  const reply = (message: Reply) => process.send?.(message)
  // Ctrl-C signals the whole process group. The service ends its child processes after it has finished its own work.
  process.on('SIGINT', () => {})
  process.on('SIGTERM', () => {})
  process.on('disconnect', () => process.exit())
  process.on('message', async ({ name, input }: Request) => {
    try {
      const run = byName.get(name)
      if (!run) throw new Error(`The task "${name}" is not listed in task-process.ts`)
      reply({ kind: 'done', output: await run(input) })
    } catch (error) {
      reply(toReply(error))
    }
  })
  reply({ kind: 'ready' })
}
