import { writeFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'

// Quality 11 is 7 % smaller but takes six times as long: 8.0 s instead of 1.3 s for the web app.
const brotliQuality = 9

/** Writes `.br` and `.gz` files with this content, which the service sends without compressing itself. */
export async function compressFile(path: string, bytes: Buffer): Promise<void> {
  const params = { [constants.BROTLI_PARAM_QUALITY]: brotliQuality, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length }
  const [br, gz] = await Promise.all([
    promisify(brotliCompress)(bytes, { params }),
    promisify(gzip)(bytes, { level: 9 }),
  ])
  await Promise.all([writeFile(`${path}.br`, br), writeFile(`${path}.gz`, gz)])
}
