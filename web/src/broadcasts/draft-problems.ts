import type { Draft } from './draft.ts'

/** The problems of a draft that can be found without a request, by the path of their input. */
export function problemsOf({ schedule, variants }: Draft): Record<string, string> {
  const problems: Record<string, string> = {}
  if (schedule.when !== 'now' && schedule.at === '') problems['schedule.at'] = 'Choose a date and time.'
  if (schedule.has_window) {
    const { days, from, to } = schedule.window
    if (days.length === 0) problems['schedule.window.days'] = 'Choose at least one day.'
    if (from === '') problems['schedule.window.from'] = 'Choose a time.'
    if (to === '') problems['schedule.window.to'] = 'Choose a time.'
  }
  variants.forEach(({ content, flow_version: version }, at) => {
    if (content === 'version' && version === null) problems[`variants.${at}.flow_version`] = 'Choose a version.'
  })
  return problems
}

const isOfSchedule = ([path]: [string, string]) => path.startsWith('schedule.')

/** Why no test email can be sent, for which the schedule does not matter. */
export const problemOfTest = (draft: Draft): string | undefined =>
  Object.entries(problemsOf(draft)).find((problem) => !isOfSchedule(problem))?.[1]

/** The draft with a schedule that can be saved: the one that is saved, while the new one is incomplete. */
export const withSavableSchedule = (draft: Draft, saved: Draft): Draft =>
  Object.entries(problemsOf(draft)).some(isOfSchedule) ? { ...draft, schedule: saved.schedule } : draft
