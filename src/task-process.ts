import { readMembersTask } from './audience/contacts/members.task.ts'
import { readImportTask } from './audience/imports/import.task.ts'
import { inspectImportTask } from './audience/imports/inspect.task.ts'
import { readAddressListTask } from './audience/suppressions/address-list.task.ts'
import { bodyTask, checkTask, compileTask, draftTask, previewTask } from './content/flows/templates.task.ts'
import { prepareImageTask } from './content/images/prepare-image.task.ts'
import { classifyBounceTask } from './engagement/bounces/classify-bounce.task.ts'
import { serveTasks } from './platform/tasks/serve.ts'
import { emailTextTask } from './sending/attachments/email-text.task.ts'

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
