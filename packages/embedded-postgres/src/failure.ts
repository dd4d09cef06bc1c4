export type Connection = { host: string; port: number; user: string; database: string }

export type RunningDatabase = { connection: Connection; directory: string }

/** The embedded PostgreSQL cannot run. The message says why and what to do. */
export class EmbeddedFailure extends Error {
  /** The database if another running instance owns it. */
  readonly running: RunningDatabase | undefined
  /** The major version of the database if it is older than the binaries: `upgradeEmbedded` can upgrade it. */
  readonly olderVersion: string | undefined

  constructor(message: string, options: { running?: RunningDatabase; olderVersion?: string; cause?: unknown } = {}) {
    super(message, { cause: options.cause })
    this.name = 'EmbeddedFailure'
    this.running = options.running
    this.olderVersion = options.olderVersion
  }
}

const advice: [pattern: RegExp, message: (directory: string) => string][] = [
  [/ENOSPC|EDQUOT|no space left|quota exceeded/i, (at) => `The disk with ${at} is full. Free up space.`],
  [
    /EROFS|read-only file system/i,
    (at) => `${at} is on a read-only file system. Set DATA_DIR to a directory on another one.`,
  ],
  [
    /EACCES|EPERM|permission denied|operation not permitted|wrong ownership/i,
    (at) =>
      `This user has no access to ${at}. Make the user that runs Waxwing its owner, or set DATA_DIR to another directory.`,
  ],
  [/EOPNOTSUPP|ENOTSUP/, (at) => `${at} is on a file system without Unix sockets. Set DATA_DIR to another directory.`],
  [
    /could not look up effective user ID/,
    () =>
      'PostgreSQL requires a user with a name, but the user that runs Waxwing is not in /etc/passwd. Add it there, or set DATABASE_URL.',
  ],
  [/ENOTDIR|EEXIST|not a directory/i, (at) => `${at} is not a directory. Set DATA_DIR to a directory.`],
]

/**
 * Maps an error of the file system or PostgreSQL to an `EmbeddedFailure` with advice. The original message is appended.
 */
export function explain(error: unknown, directory: string): EmbeddedFailure {
  if (error instanceof EmbeddedFailure) return error
  const original = error instanceof Error ? error.message : String(error)
  const known = advice.find(([pattern]) => pattern.test(original))
  const message = known?.[1](directory) ?? `The embedded PostgreSQL in ${directory} does not start.`
  return new EmbeddedFailure(`${message} (${original.trim()})`, { cause: error })
}
