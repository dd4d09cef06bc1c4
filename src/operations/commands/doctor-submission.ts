import { X509Certificate } from 'node:crypto'
import { isIP } from 'node:net'
import type { Config } from '../../platform/config/config.ts'
import { submissionTlsOf } from '../../platform/config/setting-files.ts'
import { dayMs } from '../../platform/values/durations.ts'
import { submissionNameOf } from '../../sending/sending.ts'
import { bad, type Finding, good, note } from './finding.ts'
import { reachable, readGreeting } from './read-greeting.ts'

const check = 'Submission'
const renewalDays = 14

/** Checks that the ports for submission, if there are any, answer, and that their certificate can be used. */
export async function* checkSubmission(config: Config): AsyncGenerator<Finding> {
  const { SUBMISSION_PORT: port, SUBMISSION_TLS_PORT: tlsPort } = config
  if (port !== undefined) yield await listener(config, port, 'SUBMISSION_PORT')
  if (tlsPort !== undefined) yield await listener(config, tlsPort, 'SUBMISSION_TLS_PORT')
  if (port !== undefined || tlsPort !== undefined) yield* certificate(config)
}

/** A note if nothing listens, because the service may not be running. */
async function listener(
  config: Config,
  port: number,
  setting: 'SUBMISSION_PORT' | 'SUBMISSION_TLS_PORT',
): Promise<Finding> {
  const host = reachable(config.SUBMISSION_HOST)
  const place = `${host} port ${port}`
  const tls = setting === 'SUBMISSION_TLS_PORT'
  const greeting = await readGreeting(host, port, { tls }).catch((error: NodeJS.ErrnoException) => error)
  if (greeting instanceof Error)
    return note(
      check,
      `nothing answers on ${place} (${greeting.code ?? greeting.message}): programs cannot send until \`waxwing start\` or \`serve\` runs with these settings`,
    )
  return greeting.startsWith(`220 ${submissionNameOf(config)} `)
    ? good(check, `programs can send through ${place}`)
    : bad(check, `another program answers on ${place}: stop it, or set ${setting} to another port`)
}

function* certificate(config: Config): Generator<Finding> {
  const files = readCertificate(config)
  if (files === 'invalid') return
  if (!files) {
    yield note(check, 'without a certificate, only programs on this machine can send')
    return
  }
  const name = submissionNameOf(config)
  const { validTo, subjectAltName, ...x509 } = details(files.cert)
  const days = Math.floor((Date.parse(validTo) - Date.now()) / dayMs)
  if (days < 0) yield bad(check, `the certificate expired on ${validTo}: replace SUBMISSION_TLS_CERT_FILE`)
  else if (days < renewalDays) yield note(check, `the certificate expires in ${days} days, on ${validTo}`)
  if (!x509.isValidFor(name))
    yield note(check, `the certificate is not valid for ${name}: clients must use one of its names (${subjectAltName})`)
}

/** Invalid files are reported with the other settings. */
function readCertificate(config: Config) {
  try {
    return submissionTlsOf(config)
  } catch {
    return 'invalid' as const
  }
}

function details(cert: string) {
  const x509 = new X509Certificate(cert)
  return {
    validTo: x509.validTo,
    subjectAltName: x509.subjectAltName ?? x509.subject,
    isValidFor: (name: string) => (isIP(name) ? x509.checkIP(name) : x509.checkHost(name)) !== undefined,
  }
}
