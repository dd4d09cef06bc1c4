import { X509Certificate } from 'node:crypto'
import { createSecureContext, rootCertificates } from 'node:tls'
import { SetupFault } from '../values/errors.ts'
import type { Config } from './config.ts'
import { readSettingFile } from './env-file.ts'

/** Returns certificate and key for STARTTLS, or undefined if not set. Throws `SetupFault` if they are invalid. */
export function bounceTlsOf(config: Config): { cert: string; key: string } | undefined {
  const { BOUNCE_TLS_CERT_FILE: certFile, BOUNCE_TLS_KEY_FILE: keyFile } = config
  if (!certFile || !keyFile) return undefined
  const cert = readSettingFile('BOUNCE_TLS_CERT_FILE', certFile)
  const key = readSettingFile('BOUNCE_TLS_KEY_FILE', keyFile)
  try {
    createSecureContext({ cert, key })
  } catch (error) {
    throw new SetupFault(
      `BOUNCE_TLS_CERT_FILE and BOUNCE_TLS_KEY_FILE: must be a certificate and its private key in PEM format (${(error as Error).message}).`,
    )
  }
  return { cert, key }
}

/** Returns Node's root certificates and those of WEBHOOK_CA_FILE, or undefined if the setting is not set. */
export function webhookAuthoritiesOf({ WEBHOOK_CA_FILE: file }: Config): string | undefined {
  if (!file) return undefined
  const more = readSettingFile('WEBHOOK_CA_FILE', file)
  try {
    new X509Certificate(more)
  } catch {
    throw new SetupFault(`WEBHOOK_CA_FILE: ${file} does not contain a certificate in PEM format.`)
  }
  return [...rootCertificates, more].join('\n')
}
