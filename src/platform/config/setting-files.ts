import { X509Certificate } from 'node:crypto'
import { createSecureContext, rootCertificates } from 'node:tls'
import { SetupFault } from '../values/errors.ts'
import type { Config } from './config.ts'
import { readSettingFile } from './env-file.ts'

export type Certificate = { cert: string; key: string }

/** Returns certificate and key of the bounce listener, or undefined if not set. Throws `SetupFault` if they are invalid. */
export const bounceTlsOf = (config: Config): Certificate | undefined =>
  readCertificate(config, ['BOUNCE_TLS_CERT_FILE', 'BOUNCE_TLS_KEY_FILE'])

/** Like `bounceTlsOf`, for the ports for submission. */
export const submissionTlsOf = (config: Config): Certificate | undefined =>
  readCertificate(config, ['SUBMISSION_TLS_CERT_FILE', 'SUBMISSION_TLS_KEY_FILE'])

function readCertificate(
  config: Config,
  [certName, keyName]: readonly [
    'BOUNCE_TLS_CERT_FILE' | 'SUBMISSION_TLS_CERT_FILE',
    'BOUNCE_TLS_KEY_FILE' | 'SUBMISSION_TLS_KEY_FILE',
  ],
): Certificate | undefined {
  const { [certName]: certFile, [keyName]: keyFile } = config
  if (!certFile || !keyFile) return undefined
  const cert = readSettingFile(certName, certFile)
  const key = readSettingFile(keyName, keyFile)
  try {
    createSecureContext({ cert, key })
  } catch (error) {
    throw new SetupFault(
      `${certName} and ${keyName}: must be a certificate and its private key in PEM format (${(error as Error).message}).`,
    )
  }
  return { cert, key }
}

/** Returns Node's root certificates and those of EGRESS_CA_FILE, or undefined if the setting is not set. */
export function webhookAuthoritiesOf({ EGRESS_CA_FILE: file }: Config): string | undefined {
  if (!file) return undefined
  const more = readSettingFile('EGRESS_CA_FILE', file)
  try {
    new X509Certificate(more)
  } catch {
    throw new SetupFault(`EGRESS_CA_FILE: ${file} does not contain a certificate in PEM format.`)
  }
  return [...rootCertificates, more].join('\n')
}
