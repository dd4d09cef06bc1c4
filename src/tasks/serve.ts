import { type Reply, type Request, toReply } from './protocol.ts'
import type { AnyTask } from './task.ts'

/** The child's side: runs one task after the other for as long as the service holds the channel open. */
export function serveTasks(tasks: readonly AnyTask[]): void {
  const byName = new Map(tasks.map((task) => [task.name, task.run as (input: unknown) => unknown]))
  const reply = (message: Reply) => process.send?.(message)
  // Ctrl-C reaches the whole process group. The service ends its children itself, after it has finished its work.
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
