import { serveTasks } from './tasks/serve.ts'

/** The program of a task process. Lists every task there is. */
serveTasks([])
