import { LRUCache } from 'lru-cache'
import { defineTask } from '../../platform/tasks/task.ts'
import { bodyLimits, type RenderLimits, subjectLimits } from './budget.ts'
import { type CheckedEmail, checkEmail, type EmailCheck } from './email-checks.ts'
import { type Preview, type PreviewInput, previewOf } from './preview.ts'
import type { Problem } from './problems.ts'
import { type RecipientSnapshot, snapshotOf } from './recipient.ts'
import {
  type CompiledTemplate,
  compileTemplate,
  loadTemplate,
  type RenderedBody,
  type StoredTemplate,
  type TemplateSource,
  unreadableTemplate,
} from './template.ts'
import type { TemplateValues } from './values.ts'
import { missingVariables, unusedContextKeys } from './variables.ts'
import { weightOf } from './weight.ts'

const compileMsMax = 10_000
const renderMsMax = 10_000
const cacheBytesMax = 60_000_000

export type CompiledSource =
  | { kind: 'compiled'; stored: StoredTemplate; variables: { name: string; hasDefault: boolean }[] }
  | { kind: 'faulty'; problems: Problem[] }

export async function compileSource(source: TemplateSource): Promise<CompiledSource> {
  const compilation = await compileTemplate(source)
  if (compilation.kind === 'faulty') return compilation
  const { stored, variables } = compilation.template
  return { kind: 'compiled', stored, variables: variables.map(({ name, hasDefault }) => ({ name, hasDefault })) }
}

export const compileTask = defineTask<TemplateSource, CompiledSource>({
  name: 'flows.compile',
  title: 'Compiling this template',
  msMax: compileMsMax,
  run: compileSource,
})

export const previewTask = defineTask<PreviewInput & { cpuMs: number }, Preview>({
  name: 'flows.preview',
  title: 'Compiling and rendering this template',
  msMax: compileMsMax,
  run: ({ cpuMs, ...input }) => previewOf(input, cpuMs),
})

/** `key` identifies a version, whose content never changes. */
export type RenderInput = { key: string; stored: StoredTemplate; values: TemplateValues; cpuMs: number }

/** What is determined when an email is accepted. The subject is empty if variables are missing. */
export type EmailDraft = { missing: string[]; unused: string[]; subject: string; recipient: RecipientSnapshot }

export function draftOf(template: CompiledTemplate, values: TemplateValues, limits: RenderLimits): EmailDraft {
  const missing = missingVariables(template, values)
  return {
    missing,
    unused: unusedContextKeys(template, values.context),
    subject: missing.length > 0 ? '' : template.renderSubject(values, limits),
    recipient: snapshotOf(template.recipientFields, values),
  }
}

export const draftTask = defineTask<RenderInput, EmailDraft>({
  name: 'flows.draft',
  title: 'Rendering the subject of this email',
  msMax: renderMsMax,
  run: async ({ key, stored, values, cpuMs }) => {
    const template = await cached(key, stored)
    return draftOf(template, values, subjectLimits(cpuMs))
  },
})

export const bodyTask = defineTask<RenderInput, RenderedBody>({
  name: 'flows.body',
  title: 'Rendering this email',
  msMax: renderMsMax,
  run: async ({ key, stored, values, cpuMs }) => {
    const template = await cached(key, stored)
    return template.renderBody(values, bodyLimits(cpuMs))
  },
})

export const checkTask = defineTask<Omit<CheckedEmail, 'isSure'>, EmailCheck>({
  name: 'flows.check',
  title: 'Checking this email',
  msMax: renderMsMax,
  run: async (email) => checkEmail({ ...email, isSure: () => true }),
})

/** Per task process: compiling a template takes a hundred times as long as rendering it. */
const ready = new LRUCache<string, CompiledTemplate>({
  maxSize: cacheBytesMax,
  sizeCalculation: ({ stored }) => weightOf(stored),
})

async function cached(key: string, stored: StoredTemplate): Promise<CompiledTemplate> {
  const known = ready.get(key)
  if (known) return known
  const template = await loadTemplate(stored).catch(() => unreadableTemplate(stored))
  ready.set(key, template)
  return template
}
