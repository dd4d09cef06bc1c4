import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createSecureContext, rootCertificates } from 'node:tls'
import { SetupFault } from '../values/errors.ts'
import type { Config, SettingName } from './config.ts'

/** The text of the file that a setting names. Throws a SetupFault. */
export function readSettingFile(name: SettingName, path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new SetupFault(`${name}: ${path} ${code === 'ENOENT' ? 'does not exist' : `cannot be read (${code})`}.`)
  }
}

/** What the bounce listener needs to offer STARTTLS; undefined when it should not. */
export function bounceTlsOf(config: Config): { cert: string; key: string } | undefined {
  const { BOUNCE_TLS_CERT_FILE: certFile, BOUNCE_TLS_KEY_FILE: keyFile } = config
  if (!certFile || !keyFile) return undefined
  const cert = readSettingFile('BOUNCE_TLS_CERT_FILE', certFile)
  const key = readSettingFile('BOUNCE_TLS_KEY_FILE', keyFile)
  try {
    createSecureContext({ cert, key })
  } catch (error) {
    throw new SetupFault(
      `BOUNCE_TLS_CERT_FILE and BOUNCE_TLS_KEY_FILE: must be a certificate and its key, both PEM (${(error as Error).message}).`,
    )
  }
  return { cert, key }
}

/** The authorities of WEBHOOK_CA_FILE beside those that Node trusts anyway; undefined when no others are wanted. */
export function webhookAuthoritiesOf({ WEBHOOK_CA_FILE: file }: Config): string | undefined {
  if (!file) return undefined
  const more = readSettingFile('WEBHOOK_CA_FILE', file)
  try {
    new X509Certificate(more)
  } catch {
    throw new SetupFault(`WEBHOOK_CA_FILE: ${file} holds no certificate in PEM form.`)
  }
  return [...rootCertificates, more].join('\n')
}
