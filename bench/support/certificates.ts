import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const folder = new URL('../../../test/support/certificates/', import.meta.url)

export const certificateOf = (name: string) => readFileSync(new URL(name, folder), 'utf8')
/** The certificate authority of the receiver. */
export const authorityFile = fileURLToPath(new URL('webhook-ca.pem', folder))
