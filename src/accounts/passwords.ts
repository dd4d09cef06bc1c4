import { hash, verify } from '@node-rs/argon2'
import { invalid } from '../errors.ts'

const lengthMin = 10
const lengthMax = 256
/** Each hash takes 19 MiB and a core for some 20 ms: only so many at once, the rest wait. */
const atOnceMax = 2
const waitingMax = 200

let running = 0
const waiting: (() => void)[] = []

async function inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
  if (waiting.length >= waitingMax) throw new Error('Too many passwords are waiting to be checked.')
  if (running >= atOnceMax) await new Promise<void>((resolve) => waiting.push(resolve))
  running++
  try {
    return await work()
  } finally {
    running--
    waiting.shift()?.()
  }
}

export function checkNewPassword(password: string, path = 'password'): void {
  if (password.length < lengthMin) throw invalid({ path, problem: `must have at least ${lengthMin} characters` })
  if (password.length > lengthMax) throw invalid({ path, problem: `must have at most ${lengthMax} characters` })
}

/** argon2id with the library's defaults (19 MiB, two passes), which are OWASP's. */
export const hashPassword = (password: string): Promise<string> => inTurn(() => hash(password))

/** A hash of nothing anyone knows: an unknown account then takes as long to refuse as a wrong password. */
let nobody: Promise<string> | undefined

export async function passwordFits(passwordHash: string | undefined, password: string): Promise<boolean> {
  if (password.length > lengthMax) return false
  nobody ??= hashPassword(crypto.randomUUID())
  const known = passwordHash ?? (await nobody)
  const fits = await inTurn(() => verify(known, password))
  return fits && passwordHash !== undefined
}
