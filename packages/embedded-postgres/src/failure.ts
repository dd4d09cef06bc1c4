export type Connection = { host: string; port: number; user: string; database: string }

/** Explains in one sentence why the embedded PostgreSQL cannot run and what to do. */
export class EmbeddedFailure extends Error {
  /** Where the database can be reached when it is not broken but owned by another running instance. */
  readonly runningAt: Connection | undefined

  constructor(message: string, options: { runningAt?: Connection; cause?: unknown } = {}) {
    super(message, { cause: options.cause })
    this.name = 'EmbeddedFailure'
    this.runningAt = options.runningAt
  }
}

const advice: [pattern: RegExp, sentence: (directory: string) => string][] = [
  [/ENOSPC|EDQUOT|no space left|quota exceeded/i, (at) => `The disk that holds ${at} is full: free some space.`],
  [
    /EROFS|read-only file system/i,
    (at) => `${at} is on a read-only file system: set DATA_DIR to a directory on another.`,
  ],
  [
    /EACCES|EPERM|permission denied|operation not permitted|wrong ownership/i,
    (at) => `${at} may not be used by this user: give it to the user that runs Waxwing, or set DATA_DIR to another.`,
  ],
  [/EOPNOTSUPP|ENOTSUP/, (at) => `${at} is on a file system without unix sockets: set DATA_DIR to another directory.`],
  [
    /could not look up effective user ID/,
    () =>
      'PostgreSQL needs a user with a name, and the one who runs Waxwing is not in /etc/passwd: add it there, or set DATABASE_URL.',
  ],
  [/ENOTDIR|EEXIST|not a directory/i, (at) => `${at} is not a directory: set DATA_DIR to a directory.`],
]

/** Turns what the file system or PostgreSQL said into a sentence; what it said stays behind it. */
export function explain(error: unknown, directory: string): EmbeddedFailure {
  if (error instanceof EmbeddedFailure) return error
  const said = error instanceof Error ? error.message : String(error)
  const known = advice.find(([pattern]) => pattern.test(said))
  const sentence = known?.[1](directory) ?? `The embedded PostgreSQL in ${directory} does not start.`
  return new EmbeddedFailure(`${sentence} (${said.trim()})`, { cause: error })
}
