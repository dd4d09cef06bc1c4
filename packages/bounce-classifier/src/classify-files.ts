import { open } from 'node:fs/promises'
import { classifyBounce } from './classify-bounce.ts'
import { mailBytesMax } from './mail-parts.ts'

/**
 * One JSON line for each file, in the order given. Calls `warn` for a file that cannot be read and skips it.
 * Only the head of a file is read, as much as the classifier looks at.
 */
export async function* classifyFiles(files: readonly string[], warn: (line: string) => void): AsyncGenerator<string> {
  for (const file of files) {
    try {
      const { results } = await classifyBounce(await readHead(file))
      yield JSON.stringify({
        file,
        results: results.map(({ recipient, kind, status, replyCode, reason, confidence, evidence }) => ({
          recipient,
          kind,
          status,
          reply_code: replyCode,
          reason,
          confidence,
          evidence,
        })),
      })
    } catch (error) {
      warn(`${file}: ${error instanceof Error ? error.message : String(error)}`)
    }
  }
}

async function readHead(file: string): Promise<Uint8Array> {
  const handle = await open(file)
  try {
    const head = new Uint8Array(mailBytesMax)
    let length = 0
    while (length < head.length) {
      const { bytesRead } = await handle.read(head, length, head.length - length)
      if (bytesRead === 0) break
      length += bytesRead
    }
    return head.subarray(0, length)
  } finally {
    await handle.close()
  }
}
