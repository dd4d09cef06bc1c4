import type { ApiRequestLog, KeyCache } from '../../accounts/accounts.ts'
import type { Config } from '../../platform/config/config.ts'
import { submissionTlsOf } from '../../platform/config/setting-files.ts'
import type { Log } from '../../platform/runtime/log.ts'
import type { RateLimit } from '../../platform/runtime/rate-limit.ts'
import type { StageRegistry } from '../../platform/runtime/stage-registry.ts'
import { hostOf } from '../../platform/values/domain.ts'
import type { AcceptParts } from './accept-email.ts'
import { watchCertificate } from './certificate-files.ts'
import type { SubmissionListener, SubmissionOptions } from './listener.ts'
import { recordEmails } from './record-emails.ts'
import { SignIn } from './sign-in.ts'

export type { SubmissionListener } from './listener.ts'

/** The name of the server: in its greeting, and for clients. */
export const submissionNameOf = ({ BASE_URL: baseUrl }: Pick<Config, 'BASE_URL'>): string => hostOf(new URL(baseUrl))

/** Where programs send to, or undefined if no port is set. */
export function submissionAddressOf(config: Config) {
  const { SUBMISSION_PORT: port = null, SUBMISSION_TLS_PORT: tlsPort = null, SUBMISSION_HOST: host } = config
  if (port === null && tlsPort === null) return undefined
  const isPublic = config.SUBMISSION_TLS_CERT_FILE !== undefined
  return { host: isPublic ? submissionNameOf(config) : host, port, tlsPort, isPublic }
}

export type SubmissionParts = AcceptParts & {
  config: Config
  keys: KeyCache
  keyLimit: RateLimit
  stageRegistry: StageRegistry
  apiRequests: ApiRequestLog
  log: Log
}

/** Starts the listener for submission. Returns undefined if no port is set. */
export async function listenForSubmission(parts: SubmissionParts): Promise<SubmissionListener | undefined> {
  const { config, keys, keyLimit, log } = parts
  const { SUBMISSION_PORT: port, SUBMISSION_TLS_PORT: tlsPort, SUBMISSION_HOST: host } = config
  if (port === undefined && tlsPort === undefined) return undefined
  const signIn = new SignIn(keys)
  // Loaded here, because most installations do not use it.
  const [{ startSubmission }, { acceptSubmission }] = await Promise.all([
    import('./listener.ts'),
    import('./accept-email.ts'),
  ])
  return startSubmission({
    ...{ host, port, tlsPort, keyLimit, log, stageRegistry: parts.stageRegistry },
    accept: recordEmails(parts.apiRequests, (email) => acceptSubmission(parts, email)),
    name: submissionNameOf(config),
    certificate: submissionTlsOf(config),
    newCertificate: certificateWatch(config, log),
    signIn: (password, address) => signIn.signIn(password, address),
  })
}

function certificateWatch(config: Config, log: Log): SubmissionOptions['newCertificate'] {
  const { SUBMISSION_TLS_CERT_FILE: certFile, SUBMISSION_TLS_KEY_FILE: keyFile } = config
  if (!certFile || !keyFile) return () => undefined
  return watchCertificate(
    [certFile, keyFile],
    () => submissionTlsOf(config)!,
    (err) => log.warn({ err }, 'The replaced certificate for submission is invalid; the previous one is still used'),
  )
}
