import type { LargeEmail } from '@waxwing/smtp-client'
import { base64Lines, bytesOf, type Piece, readFile } from '../../content/content.ts'
import { BodyHash, type DkimSigner } from '../../delivery/delivery.ts'
import type { Reader } from '../../platform/db/db.ts'
import type { OrganizationId } from '../../platform/values/ids.ts'
import { storableText } from '../../platform/values/text.ts'

type Signing = { signer: DkimSigner; time: Date }

/** The first piece is a text that contains all headers. A signature needs the hash of the body, so files are read twice. */
export function streamEmail(
  db: Reader,
  organizationId: OrganizationId,
  pieces: readonly Piece[],
  signing: Signing | undefined,
): LargeEmail {
  const size = pieces.reduce((sum, piece) => sum + bytesOf(piece), 0)
  const isAscii = pieces.every(isAsciiPiece)
  if (!signing) return { size, isAscii, chunks: () => contentOf(db, organizationId, pieces) }
  const { signer, time } = signing
  const [first, ...rest] = pieces as [string, ...Piece[]]
  const headEnd = first.indexOf('\r\n\r\n')
  const head = first.slice(0, headEnd)
  const body = [first.slice(headEnd + 4), ...rest]
  return {
    size: size + signer.signatureLength(head, time),
    isAscii,
    async *chunks() {
      const hash = new BodyHash()
      for await (const part of contentOf(db, organizationId, body)) hash.update(part)
      yield Buffer.from(signer.signHead(head, hash.digest(), time))
      yield* contentOf(db, organizationId, pieces)
    },
  }
}

const isAsciiPiece = (piece: Piece) =>
  typeof piece === 'string' ? Buffer.byteLength(piece) === piece.length : piece.encoding !== '8bit'

async function* contentOf(
  db: Reader,
  organizationId: OrganizationId,
  pieces: readonly Piece[],
): AsyncGenerator<Buffer> {
  for (const piece of pieces) {
    if (typeof piece === 'string') {
      yield Buffer.from(piece)
      continue
    }
    const { fileId, start, end, encoding } = piece
    for await (const bytes of readFile(db, organizationId, fileId, { start, end }))
      yield encoding === 'base64' ? base64Lines(bytes) : bytes
  }
}

/** Returns the start of an email as text that PostgreSQL can store. */
export async function startOf({ chunks }: LargeEmail, lengthMax: number): Promise<string> {
  let start = ''
  for await (const chunk of chunks()) {
    start += chunk.toString()
    if (start.length >= lengthMax) break
  }
  return storableText(start, lengthMax)
}
