import { SetupFault } from '../values/errors.ts'

type Fault = { message: string; code?: string; syscall?: string }

/** Maps a connection error to a `SetupFault` with advice. Returns undefined for all other errors. */
export function connectFaultOf(error: unknown): SetupFault | undefined {
  if (!(error instanceof Error)) return undefined
  const advice = adviceFor(error)
  return advice === undefined ? missingPrivilege(error) : new SetupFault(advice)
}

/** Maps a missing privilege, for example on tables of another owner, to a `SetupFault`. Else returns undefined. */
export function missingPrivilege(error: unknown): SetupFault | undefined {
  const { code, message } = (error ?? {}) as Fault
  if (code !== '42501') return undefined
  return new SetupFault(
    `The user of DATABASE_URL is missing a privilege: ${message}. Grant it, or connect as the owner of the tables.`,
  )
}

function adviceFor({ message, code, syscall }: Fault): string | undefined {
  // The only files opened while connecting are certificates and keys.
  if (syscall === 'open') return `A TLS file named in DATABASE_URL cannot be read: ${message}.`
  switch (code) {
    case '28P01':
      return `The database rejected the user or password in DATABASE_URL: ${message}. Correct DATABASE_URL.`
    case '28000':
      return /no encryption/.test(message)
        ? `The database requires TLS: ${message}. Add sslmode=verify-full to DATABASE_URL, or sslmode=no-verify to encrypt without verifying the certificate.`
        : `The database rejected the user in DATABASE_URL: ${message}. Use another user, or allow this one (create role, pg_hba.conf).`
    case '3D000':
      return `The database in DATABASE_URL cannot be opened: ${message}. Create it (create database), or use another one.`
    case 'ERR_TLS_CERT_ALTNAME_INVALID':
      return `The certificate of the database does not match the host in DATABASE_URL: ${message}. Use the host name in the certificate, or add sslmode=no-verify to encrypt without verifying the certificate.`
    case 'DEPTH_ZERO_SELF_SIGNED_CERT':
    case 'SELF_SIGNED_CERT_IN_CHAIN':
    case 'UNABLE_TO_VERIFY_LEAF_SIGNATURE':
    case 'UNABLE_TO_GET_ISSUER_CERT':
    case 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY':
    case 'CERT_HAS_EXPIRED':
    case 'CERT_NOT_YET_VALID':
      return `The certificate of the database is not trusted: ${message}. Set sslrootcert in DATABASE_URL to the file with its certificate authority, or add sslmode=no-verify to encrypt without verifying the certificate.`
    default:
      return adviceForMessage(message)
  }
}

/** Errors that have no code of their own. */
function adviceForMessage(message: string): string | undefined {
  if (message === 'The server does not support SSL connections')
    return 'DATABASE_URL requires TLS, but the database does not support it. Set sslmode=disable in DATABASE_URL, or enable ssl in the database.'
  if (message === 'unsupported startup parameter: options')
    return 'DATABASE_URL is the address of a PgBouncer that is too old: PgBouncer 1.21 or newer is needed. Update it, or connect to PostgreSQL directly.'
  if (/client password must be a/.test(message))
    return 'The database requires a password, but DATABASE_URL has none. Add it after the user: user:password@host.'
  return undefined
}
