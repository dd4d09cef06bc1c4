import { request } from 'undici'

const withinMs = 5_000
const bytesMax = 64 * 1024

/** Fetches a small text, without following redirects. Throws if it is too large or the status is not 200. */
export async function fetchText(url: string): Promise<string> {
  const { statusCode, body } = await request(url, { signal: AbortSignal.timeout(withinMs) })
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of body as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > bytesMax) throw new Error('the response is too large')
    chunks.push(chunk)
  }
  if (statusCode !== 200) throw new Error(`answered ${statusCode}`)
  return Buffer.concat(chunks).toString()
}
