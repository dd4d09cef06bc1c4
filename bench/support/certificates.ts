import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const folder = new URL('../../../test/support/certificates/', import.meta.url)

export const certificateOf = (name: string) => readFileSync(new URL(name, folder), 'utf8')
/** Of the authority behind the receiver's certificate. */
export const authorityFile = fileURLToPath(new URL('webhook-ca.pem', folder))
