import { randomBytes } from 'node:crypto'
import { hash, verify } from '@node-rs/argon2'
import { invalid, Refusal } from '../errors.ts'
import { isLongerThan } from '../text.ts'

const lengthMin = 10
const lengthMax = 256
/** Each hash takes 19 MiB and a core for some 20 ms: only so many at once, the rest wait. */
const atOnceMax = 2
const waitingMax = 200
/** Within this time a full queue is worked off. */
const retryAfterSeconds = 5
/** The library's defaults, which are OWASP's. */
const cost = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }

let running = 0
const waiting: (() => void)[] = []

async function inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
  if (waiting.length >= waitingMax)
    throw new Refusal('unavailable', 'Too many people log in at this moment. Try again in a few seconds.', {
      retryAfterSeconds,
    })
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
  if (!isLongerThan(password, lengthMin - 1))
    throw invalid({ path, problem: `must have at least ${lengthMin} characters` })
  if (isLongerThan(password, lengthMax)) throw invalid({ path, problem: `must have at most ${lengthMax} characters` })
}

/** For somebody who has not chosen one. */
export const makeUpPassword = (): string => randomBytes(15).toString('base64url')

/** By argon2id. */
export const hashPassword = (password: string): Promise<string> => inTurn(() => hash(password, cost))

/** A hash that no password is known for: an unknown account then takes as long to refuse as a wrong password. */
const nobody = `$argon2id$v=19$m=${cost.memoryCost},t=${cost.timeCost},p=${cost.parallelism}$${'A'.repeat(22)}$${'A'.repeat(43)}`

export async function passwordFits(passwordHash: string | undefined, password: string): Promise<boolean> {
  if (isLongerThan(password, lengthMax)) return false
  const fits = await inTurn(() => verify(passwordHash ?? nobody, password))
  return fits && passwordHash !== undefined
}
