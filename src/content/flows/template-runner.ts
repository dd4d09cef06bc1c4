import type { TaskPool } from '../../platform/tasks/pool.ts'
import type { OrganizationId } from '../../platform/values/ids.ts'
import type { BrandValues } from '../brands/brand-values.ts'
import { inlineLimits, OverBudget } from './budget.ts'
import { type CheckSettings, checkEmail, type EmailCheck } from './email-checks.ts'
import { faultyPreview, type Preview, type PreviewInput, previewOf } from './preview.ts'
import type { Problem } from './problems.ts'
import { compilers } from './sources.ts'
import { addressIn, type BodyOutputs, type RenderedBody, type TemplateSource, usesBrand } from './template.ts'
import type { ReadyVersion } from './template-cache.ts'
import {
  bodyTask,
  type CompiledSource,
  checkTask,
  compileSource,
  compileTask,
  draftOf,
  draftTask,
  type EmailDraft,
  previewTask,
} from './templates.task.ts'
import { withUnsubscribeLine } from './unsubscribe-line.ts'
import type { TemplateValues } from './values.ts'
import { isLightSource } from './weight.ts'

/** How long a version that was too slow for the main thread is rendered in task processes. */
const slowMs = 60_000
/** The clock may misjudge a template, for example while the code of the engine is cold; the units do not. */
const lateRunsMax = 3
/** Checking a rendered email takes up to 10 ms for this many characters. */
const lightCheckLengthMax = 150_000

/** Returns the text of those parts that exist, by name. */
type FindParts = (organizationId: OrganizationId, names: readonly string[]) => Promise<ReadonlyMap<string, string>>
type RunnerOptions = {
  tasks: TaskPool
  cpuMs: number
  /** The start of tracked links. */
  baseUrl?: () => string
  findBrand?: FindBrand
  findParts?: FindParts
}
type FindBrand = (organizationId: OrganizationId) => Promise<BrandValues>

export type WhenFull = 'refuse' | 'wait'

/**
 * Runs templates where they cannot delay other work: light ones on the main thread within `inlineLimits`, and all
 * others in a task process within the limits of an email. The result is the same.
 */
export class TemplateRunner {
  readonly #tasks: TaskPool
  readonly #cpuMs: number
  readonly #baseUrl: () => string
  readonly #findBrand: FindBrand | undefined
  readonly #findParts: FindParts

  constructor({
    tasks,
    cpuMs,
    baseUrl = () => 'https://links.invalid',
    findBrand,
    findParts = async () => new Map(),
  }: RunnerOptions) {
    this.#tasks = tasks
    this.#cpuMs = cpuMs
    this.#baseUrl = baseUrl
    this.#findBrand = findBrand
    this.#findParts = findParts
  }

  /** With the current brand and parts of the organization. */
  async compile(organizationId: OrganizationId, given: TemplateSource): Promise<CompiledSource> {
    const template = await this.#complete(organizationId, given)
    if ('problems' in template) return { kind: 'faulty', ...template }
    return isLightSource(template)
      ? compileSource(template)
      : this.#tasks.run(compileTask, { organizationId, input: template })
  }

  async preview(organizationId: OrganizationId, given: Omit<PreviewInput, 'settings'>): Promise<Preview> {
    const template = await this.#complete(organizationId, given.template)
    if ('problems' in template) return faultyPreview(template.problems)
    const input = { ...given, template, settings: await this.#checkSettings(organizationId) }
    if (isLightSource(template))
      try {
        return await previewOf(input, this.#cpuMs, inlineLimits)
      } catch (error) {
        if (!(error instanceof OverBudget)) throw error
      }
    return this.#tasks.run(previewTask, { organizationId, input: { ...input, cpuMs: this.#cpuMs } })
  }

  /**
   * Renders the email of a version for one contact, and checks it. Throws `Refusal` if it cannot be rendered, or if the
   * task processes are busy.
   */
  async check(
    version: ReadyVersion,
    values: TemplateValues,
    { isMarketing, utmQuery }: { isMarketing: boolean; utmQuery: string },
  ): Promise<EmailCheck> {
    const draft = await this.draft(version, values)
    const rendered = await this.body(version, values, 'refuse')
    const body = isMarketing ? withUnsubscribeLine(rendered, values.unsubscribeUrl) : rendered
    const email = {
      ...(await this.#checkSettings(version.organizationId)),
      subject: draft.subject,
      html: body.html,
      source: version.source.text,
      templateAddress: addressIn(version.stored),
      isMarketing,
      unsubscribeUrl: values.unsubscribeUrl,
      utmQuery,
    }
    return email.html.length + email.source.length <= lightCheckLengthMax
      ? checkEmail({ ...email, isSure: () => true })
      : this.#tasks.run(checkTask, { organizationId: version.organizationId, input: email })
  }

  async #checkSettings(organizationId: OrganizationId): Promise<CheckSettings> {
    const brand = await this.#findBrand?.(organizationId)
    return { postalAddress: brand?.address ?? null, baseUrl: this.#baseUrl() }
  }

  /** Returns the template with its parts, and with the brand if it reads it, or the problems. */
  async #complete(
    organizationId: OrganizationId,
    given: TemplateSource,
  ): Promise<TemplateSource | { problems: Problem[] }> {
    const { format, text } = given.source
    const names = compilers[format].partNamesIn(text)
    const parts = names.length > 0 && (await this.#findParts(organizationId, names))
    const complete = parts ? compilers[format].withParts(text, parts) : text
    if (typeof complete !== 'string') return { problems: complete }
    const template = { ...given, source: { format, text: complete } }
    return this.#findBrand && usesBrand(template)
      ? { ...template, brand: await this.#findBrand(organizationId) }
      : template
  }

  /** Returns whether the version is currently rendered in task processes. */
  isSlow(version: ReadyVersion): boolean {
    return version.template === undefined || version.slowUntil > performance.now()
  }

  /** Returns undefined if the template is too slow for the main thread. */
  draftNow(version: ReadyVersion, values: TemplateValues): EmailDraft | undefined {
    return this.#inline(version, (template) => draftOf(template, values, inlineLimits))
  }

  async draft(version: ReadyVersion, values: TemplateValues): Promise<EmailDraft> {
    return this.draftNow(version, values) ?? this.#tasks.run(draftTask, this.#renderOf(version, values, 'refuse'))
  }

  /** Returns undefined if the template is too slow for the main thread. */
  bodyNow(version: ReadyVersion, values: TemplateValues): RenderedBody | undefined {
    return this.#inline(version, (template) => template.renderBody(values, inlineLimits))
  }

  /** Like `bodyNow`, for a version whose template has an outline. */
  outputsNow(version: ReadyVersion, values: TemplateValues): BodyOutputs | undefined {
    return this.#inline(version, (template) => template.renderOutputs(values, inlineLimits))
  }

  async body(version: ReadyVersion, values: TemplateValues, whenFull: WhenFull): Promise<RenderedBody> {
    return this.bodyNow(version, values) ?? this.#tasks.run(bodyTask, this.#renderOf(version, values, whenFull))
  }

  #inline<Result>(
    version: ReadyVersion,
    render: (template: NonNullable<ReadyVersion['template']>) => Result,
  ): Result | undefined {
    const { template } = version
    if (!template || this.isSlow(version)) return undefined
    try {
      const result = render(template)
      version.lateRuns = 0
      return result
    } catch (error) {
      if (!(error instanceof OverBudget)) throw error
      if (error.spent === 'units' || ++version.lateRuns >= lateRunsMax) {
        version.lateRuns = 0
        version.slowUntil = performance.now() + slowMs
      }
      return undefined
    }
  }

  #renderOf(version: ReadyVersion, values: TemplateValues, whenFull: WhenFull) {
    const { organizationId, id, stored, ownSubject } = version
    const input = {
      key: ownSubject === undefined ? `${organizationId} ${id}` : `${organizationId} ${id} ${ownSubject}`,
      stored,
      values,
      cpuMs: this.#cpuMs,
    }
    return { organizationId, input, whenFull }
  }
}
