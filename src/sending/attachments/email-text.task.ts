import { loadHtmlToText } from '../../content/content.ts'
import { defineTask } from '../../platform/tasks/task.ts'

/** Derives the text of an email from its HTML. */
export const emailTextTask = defineTask<string, string>({
  name: 'messages.text',
  title: 'Deriving the text of this email',
  msMax: 10_000,
  run: async (html) => (await loadHtmlToText())(html),
})
