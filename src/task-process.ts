import { bodyTask, compileTask, draftTask, previewTask } from './flows/templates.task.ts'
import { serveTasks } from './tasks/serve.ts'
import { classifyBounceMail } from './tracking/classify-bounce.task.ts'

/** The program of a task process. Lists every task there is. */
serveTasks([classifyBounceMail, compileTask, previewTask, draftTask, bodyTask])
