import type { PostOutcome } from '../../platform/egress/post-outcome.ts'
import { reasonInWords } from '../../platform/egress/post-outcome.ts'
import { createSafePost, type SafePost, type SafePostOptions } from '../../platform/egress/safe-post.ts'
import { RateLimit } from '../../platform/runtime/rate-limit.ts'
import type { Stage, StageLimits } from '../../platform/runtime/stage.ts'
import type { StageRegistry } from '../../platform/runtime/stage-registry.ts'
import type { OrganizationId } from '../../platform/values/ids.ts'

export const linksMax = 50
/** Links of one check that are opened at the same time. */
const atOnce = 4
/** After this time no further link is opened. One that is open may take another `requestMsMax`. */
const checkMsMax = 15_000
const requestMsMax = 5_000
const redirectsMax = 4
/** Per organization, so that it cannot scan networks, and per host, so that no site gets many requests from here. */
const linksPerMinute = 100
const requestsPerHostAndMinute = 60

/** Sites that reject programs respond with these, although the link works in a browser. */
const unclearStatuses = new Set([401, 403, 405, 406, 429, 503, 999])
const headers = { 'user-agent': 'Waxwing link check', accept: '*/*' }

export const linkStatuses = ['works', 'broken', 'unclear', 'skipped'] as const

export type LinkResult = { url: string; status: (typeof linkStatuses)[number]; detail: string }

/** Checks of links: each holds up to 4 sockets for up to 20 seconds. */
const checks: StageLimits = {
  perOrganization: 1,
  overall: 10,
  waitingPerOrganization: 2,
  waitMs: 20_000,
}

type Options = Omit<SafePostOptions, 'timeoutMs' | 'allowHttp'> & { stages: StageRegistry }

/**
 * Opens links to see whether they work. Addresses are checked like those of webhooks, also after each redirect, and only
 * the usual ports are used. Responses say nothing about networks that are not public. The connections are opened by the
 * first check.
 */
export class LinkChecker {
  readonly #options: Options
  readonly #checks: Stage
  readonly #perOrganization = new RateLimit({
    perSecond: linksPerMinute / 60,
    burst: linksPerMinute,
    message: `Your organization may check ${linksPerMinute} links a minute. Wait a moment and try again.`,
  })
  readonly #perHost = new RateLimit({
    perSecond: requestsPerHostAndMinute / 60,
    burst: requestsPerHostAndMinute,
    keysMax: 10_000,
  })
  #safePost: SafePost | undefined

  constructor(options: Options) {
    this.#options = options
    this.#checks = options.stages.stage('link checks', 'peer', checks)
  }

  /** Returns the results in the order of `urls`. Throws `Refusal` if the organization has checked too many links. */
  async check(organizationId: OrganizationId, urls: readonly string[]): Promise<LinkResult[]> {
    const distinct = [...new Set(urls)]
    for (const _ of distinct) this.#perOrganization.take(organizationId)
    return this.#checks.run(organizationId, async () => {
      const until = performance.now() + checkMsMax
      const results = new Map<string, LinkResult>()
      const remaining = distinct.values()
      const work = async () => {
        for (const url of remaining) results.set(url, { url, ...(await this.#open(url, until)) })
      }
      await Promise.all(Array.from({ length: atOnce }, work))
      return distinct.map((url) => results.get(url)!)
    })
  }

  close(): void {
    this.#safePost?.close()
  }

  async #open(link: string, until: number): Promise<Omit<LinkResult, 'url'>> {
    this.#safePost ??= createSafePost({
      ...this.#options,
      allowHttp: true,
      timeoutMs: requestMsMax,
      limits: { idleMax: atOnce, idlePerOriginMax: 1, idleMs: 1_000 },
    })
    let url = link
    for (let redirects = 0; redirects <= redirectsMax; redirects++) {
      const target = URL.canParse(url) ? new URL(url) : undefined
      if (!target || !/^https?:$/.test(target.protocol)) return broken('It is not a valid http address.')
      if (target.port !== '' && !this.#options.allowPrivate) return skipped('Only the usual ports are checked.')
      if (performance.now() > until) return skipped('The check took too long. Check again.')
      if (!this.#perHost.allow(target.hostname))
        return skipped('This site was checked often just now. Check again later.')
      target.hash = ''
      target.username = ''
      target.password = ''
      const outcome = await this.#safePost.get(target.href, headers)
      if (outcome.location === undefined) return resultOf(outcome)
      if (!URL.canParse(outcome.location, target.href)) return broken('It redirects to an invalid address.')
      url = new URL(outcome.location, target.href).href
    }
    return broken('It redirects too often.')
  }
}

const broken = (detail: string) => ({ status: 'broken' as const, detail })
const skipped = (detail: string) => ({ status: 'skipped' as const, detail })

function resultOf(outcome: PostOutcome): Omit<LinkResult, 'url'> {
  if ('statusCode' in outcome) {
    const { statusCode } = outcome
    if (statusCode >= 200 && statusCode < 300) return { status: 'works', detail: `Responded ${statusCode}.` }
    if (unclearStatuses.has(statusCode))
      return {
        status: 'unclear',
        detail: `Responded ${statusCode}. The site may reject programs. Open the link to see whether it works.`,
      }
    return broken(`Responded ${statusCode}.`)
  }
  if (outcome.kind === 'local_resource_error') return skipped('The service is busy. Check again in a moment.')
  // What a name resolves to within a network is nobody's business outside of it.
  if (outcome.kind === 'unreachable' && outcome.isPrivate) return broken('Its address is not public.')
  return broken(`${reasonInWords(outcome)}.`)
}
