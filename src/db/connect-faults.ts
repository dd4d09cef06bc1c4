import { SetupFault } from '../values/errors.ts'

type Fault = { message: string; code?: string; syscall?: string }

/** What keeps us from the database and a person has to mend; undefined when something else is wrong. */
export function connectFaultOf(error: unknown): SetupFault | undefined {
  if (!(error instanceof Error)) return undefined
  const says = sentence(error)
  return says === undefined ? missingRightOf(error) : new SetupFault(says)
}

/** A statement was refused for want of a right, say since the tables belong to someone else; undefined when not. */
export function missingRightOf(error: unknown): SetupFault | undefined {
  const { code, message } = (error ?? {}) as Fault
  if (code !== '42501') return undefined
  return new SetupFault(
    `The user of DATABASE_URL lacks a right: ${message}. Grant it, or name there the user that everything belongs to.`,
  )
}

function sentence({ message, code, syscall }: Fault): string | undefined {
  // The only files that are opened on the way to a database are those of TLS.
  if (syscall === 'open') return `A file that DATABASE_URL names for TLS cannot be read: ${message}.`
  switch (code) {
    case '28P01':
      return `The database refuses the user or the password of DATABASE_URL: ${message}. Correct them there.`
    case '28000':
      return /no encryption/.test(message)
        ? `The database refuses connections without TLS: ${message}. Add sslmode=verify-full to DATABASE_URL, or sslmode=no-verify to encrypt without checking its certificate.`
        : `The database refuses the user of DATABASE_URL: ${message}. Name another user there, or let this one in (create role, pg_hba.conf).`
    case '3D000':
      return `The database of DATABASE_URL cannot be opened: ${message}. Create it (create database), or name another there.`
    case 'ERR_TLS_CERT_ALTNAME_INVALID':
      return `The certificate of the database is for another host than the one in DATABASE_URL: ${message}. Name that host, or add sslmode=no-verify to encrypt without checking.`
    case 'DEPTH_ZERO_SELF_SIGNED_CERT':
    case 'SELF_SIGNED_CERT_IN_CHAIN':
    case 'UNABLE_TO_VERIFY_LEAF_SIGNATURE':
    case 'UNABLE_TO_GET_ISSUER_CERT':
    case 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY':
    case 'CERT_HAS_EXPIRED':
    case 'CERT_NOT_YET_VALID':
      return `The certificate of the database is not trusted: ${message}. Name the file with its authority as sslrootcert in DATABASE_URL, or add sslmode=no-verify to encrypt without checking.`
    default:
      return uncoded(message)
  }
}

/** pg itself says these, without a code. */
function uncoded(message: string): string | undefined {
  if (message === 'The server does not support SSL connections')
    return 'The database offers no TLS, but DATABASE_URL asks for it: set sslmode=disable there, or turn on ssl in the database.'
  if (/client password must be a/.test(message))
    return 'The database asks for a password, and DATABASE_URL has none: write it there after the user, as user:password@host.'
  return undefined
}
