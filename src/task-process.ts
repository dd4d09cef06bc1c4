import { readImportTask } from './contacts/import.task.ts'
import { inspectImportTask } from './contacts/inspect.task.ts'
import { readMembersTask } from './contacts/members.task.ts'
import { readAddressListTask } from './contacts/suppression-list.task.ts'
import { bodyTask, compileTask, draftTask, previewTask } from './flows/templates.task.ts'
import { serveTasks } from './tasks/serve.ts'
import { classifyBounceTask } from './tracking/classify-bounce.task.ts'

/** The entry point of a task process. Lists all tasks. */
serveTasks([
  classifyBounceTask,
  readImportTask,
  inspectImportTask,
  readMembersTask,
  readAddressListTask,
  compileTask,
  previewTask,
  draftTask,
  bodyTask,
])
