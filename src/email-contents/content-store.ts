import type { LargeEmail } from '@waxwing/smtp-client'
import type { Db } from '../db/db.ts'
import type { Piece } from '../mime/pieces.ts'
import type { Stage } from '../runtime/stage.ts'
import type { StageRegistry } from '../runtime/stage-registry.ts'
import type { OrganizationId } from '../values/ids.ts'
import type { EmailContent } from './content.ts'
import { findWholeContent } from './contents.ts'
import { fileIsGone } from './files.ts'
import { startOf, streamEmail } from './streamed-email.ts'

/** The inbox stores this much of an email with attachments. */
const inboxLengthMax = 1024 * 1024

/** Large emails that are composed and sent at the same time. Each takes a few megabytes of memory. */
const largeEmails = { perOrganization: 2, overall: 4, waitingPerOrganization: 100, waitMs: 60_000 }

/** Reads the contents of emails that are being sent. */
export class ContentStore {
  readonly #db: Db
  readonly #large: Stage

  constructor(db: Db, stages: StageRegistry) {
    this.#db = db
    this.#large = stages.stage('large emails', largeEmails)
  }

  /** Calls `use` with the bodies of a large content. Throws `Refusal` if too many of them are being sent. */
  whole<Result>(content: EmailContent, use: (content: EmailContent) => Promise<Result>): Promise<Result> {
    const { organizationId, id } = content
    return this.#large.run(organizationId, async () => {
      const found = await findWholeContent(this.#db, organizationId, id)
      if (!found) throw fileIsGone()
      return use(found)
    })
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
