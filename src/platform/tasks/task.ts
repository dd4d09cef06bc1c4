/**
 * A piece of CPU-heavy work on tenant input that runs in a task process instead of on the main thread.
 *
 * To add one:
 * 1. Declare it next to the code it runs, with `defineTask`, in a file named `<subject>.task.ts`. `run` must be a pure
 *    function: no database, no network, no state that has to survive. Load heavy libraries in it with `await import()`.
 * 2. List it in `src/task-process.ts`.
 * 3. Call it with `pool.run(task, { organizationId, input })`.
 *
 * Input and output are structured clones: plain data, `Map`, `Set`, `Date`, `Buffer` and typed arrays, but no functions and
 * no class instances. A `Refusal` thrown by `run` reaches the caller as a `Refusal`.
 */
export type Task<Input, Output> = {
  /** Unique. Used in metrics and logs, for example `flows.compile`. */
  name: string
  /** Subject of the message when a limit is exceeded, for example `Compiling this template`. */
  title: string
  /** Wall clock for one run, not counting time in the queue. Be generous: machines are busy. */
  msMax: number
  /** Whether it often takes more than a second. Such tasks use at most half of the processes. */
  isLong?: boolean
  run: (input: Input) => Output | Promise<Output>
}

export const defineTask = <Input, Output>(task: Task<Input, Output>): Task<Input, Output> => task

/** A task of unknown types, for lists of them. `never` because a function accepts a narrower input, not a wider one. */
export type AnyTask = Task<never, unknown>
