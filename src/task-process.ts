import { readMembersTask } from './contacts/members.task.ts'
import { bodyTask, checkTask, compileTask, draftTask, previewTask } from './flows/templates.task.ts'
import { prepareImageTask } from './images/prepare-image.task.ts'
import { readImportTask } from './imports/import.task.ts'
import { inspectImportTask } from './imports/inspect.task.ts'
import { emailTextTask } from './messages/email-text.task.ts'
import { readAddressListTask } from './suppressions/address-list.task.ts'
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
  checkTask,
  emailTextTask,
  prepareImageTask,
])
