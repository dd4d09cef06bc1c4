import type { LargeEmail } from '@waxwing/smtp-client'
import { fileIsGone, type Piece } from '../../content/content.ts'
import type { Db } from '../../platform/db/db.ts'
import type { Stage } from '../../platform/runtime/stage.ts'
import type { StageRegistry } from '../../platform/runtime/stage-registry.ts'
import type { TaskPool } from '../../platform/tasks/pool.ts'
import type { OrganizationId } from '../../platform/values/ids.ts'
import { type EmailContent, lacksText } from './content.ts'
import { findTextSource, storeText } from './contents.sql.ts'
import { findWholeContent } from './contents.ts'
import { emailTextTask } from './email-text.task.ts'
import { startOf, streamEmail } from './streamed-email.ts'

/** At least as much as the text of an email is derived from (`loadHtmlToText`). */
const htmlLengthMax = 100_000

/** The inbox stores this much of an email with attachments. */
const inboxLengthMax = 1024 * 1024

/** Memory of large emails that are being sent: for what is read and written at a time, and for the copies of the bodies. */
const kilobytesOfEach = 512
const copiesOfBodies = 3
const largeEmails = { waitingPerOrganization: 100, waitMs: 60_000 }
const installation = { ...largeEmails, perOrganization: 8 * 1024, overall: 16 * 1024 }
const ownServers = { ...largeEmails, perOrganization: 4 * 1024, overall: 40 * 1024 }
/** An email whose mail server has not accepted it after this time does not delay those of other organizations any more. */
const slowMs = 15_000

/** Reads the contents of emails that are being sent. */
export class ContentStore {
  readonly #db: Db
  readonly #tasks: TaskPool
  readonly #large: Stage
  readonly #largeByOwnServers: Stage

  constructor(db: Db, stages: StageRegistry, tasks: TaskPool) {
    this.#db = db
    this.#tasks = tasks
    this.#large = stages.stage('large emails (KiB)', 'service', installation)
    this.#largeByOwnServers = stages.stage('large emails by own mail servers (KiB)', 'peer', ownServers)
  }

  /**
   * Returns a content that has its text, unless it is large. A derived text is stored, so that all attempts and all recipients
   * get the same, whatever version of this program sends them. Throws `Refusal` if it cannot be derived.
   */
  async withText<Content extends EmailContent>(content: Content): Promise<Content> {
    if (!lacksText(content)) return content
    const { organizationId, id } = content
    const source = await findTextSource(this.#db, organizationId, id, htmlLengthMax)
    if (!source) throw fileIsGone()
    if (source.text !== null) return { ...content, text: source.text }
    const derived = await this.#tasks.run(emailTextTask, { organizationId, input: source.html, whenFull: 'wait' })
    const text = await storeText(this.#db.statement, organizationId, id, derived)
    if (text === undefined) throw fileIsGone()
    return { ...content, text }
  }

  /** Whether the text of a content, and of others before it, still has to be derived. */
  waitsForText(content: EmailContent): boolean {
    return lacksText(content) && this.#tasks.isWaiting(content.organizationId)
  }

  /** Returns a whole content with the text that it will have. */
  async withShownText<Content extends EmailContent>(content: Content): Promise<Content> {
    if (!lacksText(content) || content.html === null) return content
    const { organizationId, html: input } = content
    return { ...content, text: await this.#tasks.run(emailTextTask, { organizationId, input }) }
  }

  /**
   * Calls `use` with the bodies of a large content. Those sent through mail servers of organizations have a limit of their own,
   * and are no longer counted when the mail server is slow. Throws `Refusal` if too many of them are being sent.
   */
  async whole<Result>(
    content: EmailContent,
    { byOwnServer }: { byOwnServer: boolean },
    use: (content: EmailContent) => Promise<Result>,
  ): Promise<Result> {
    const { organizationId, id, bodyBytes } = content
    const stage = byOwnServer ? this.#largeByOwnServers : this.#large
    const kilobytes = kilobytesOfEach + Math.ceil((copiesOfBodies * bodyBytes) / 1024)
    const release = await stage.acquire(organizationId, kilobytes)
    const timer = byOwnServer ? setTimeout(release, slowMs) : undefined
    try {
      const found = await findWholeContent(this.#db, organizationId, id)
      if (!found) throw fileIsGone()
      return await use(found)
    } finally {
      clearTimeout(timer)
      release()
    }
  }

  stream(
    organizationId: OrganizationId,
    pieces: readonly Piece[],
    signing?: Parameters<typeof streamEmail>[3],
  ): LargeEmail {
    return streamEmail(this.#db, organizationId, pieces, signing)
  }

  /** The start of an email, for the inbox. */
  async startOf(organizationId: OrganizationId, pieces: readonly Piece[]): Promise<{ raw: string; sizeBytes: number }> {
    const email = this.stream(organizationId, pieces)
    return { raw: await startOf(email, inboxLengthMax), sizeBytes: email.size }
  }
}
