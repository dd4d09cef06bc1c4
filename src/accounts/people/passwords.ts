import { randomBytes } from 'node:crypto'
import { hash, verify } from '@node-rs/argon2'
import { invalid } from '../../platform/values/errors.ts'
import { isLongerThan } from '../../platform/values/text.ts'
import { PasswordQueue } from './password-queue.ts'

export const passwordLengthMin = 10
export const passwordLengthMax = 256
/** The defaults of the library, which follow the OWASP recommendations. Passwords with a higher cost are not verified. */
const cost = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }

const queue = new PasswordQueue()

export function checkNewPassword(password: string, path = 'password'): void {
  if (!isLongerThan(password, passwordLengthMin - 1))
    throw invalid({ path, problem: `must have at least ${passwordLengthMin} characters` })
  if (isLongerThan(password, passwordLengthMax))
    throw invalid({ path, problem: `must have at most ${passwordLengthMax} characters` })
  if (isEasyToGuess(password))
    throw invalid({ path, problem: 'is too easy to guess; choose a longer or less regular password' })
}

/** From this length on, few different characters are acceptable. */
const longEnough = 32
const sequences = [
  '01234567890123456789',
  'abcdefghijklmnopqrstuvwxyz',
  'qwertyuiopasdfghjklzxcvbnm',
  'qwertzuiopasdfghjklyxcvbnm',
]
const commonStart =
  /^(password|passwort|waxwing|welcome|letmein|iloveyou|administrator|changeme|qwerty|qwertz)[0-9!?.*#$ -]*$/

/** Returns true for few different characters, keyboard sequences, and common words followed by digits. */
function isEasyToGuess(password: string): boolean {
  const plain = password.toLowerCase()
  if ((plain.length < longEnough && new Set(plain).size < 4) || commonStart.test(plain)) return true
  const reversed = [...plain].reverse().join('')
  return sequences.some((sequence) => sequence.includes(plain) || sequence.includes(reversed))
}

export const generatePassword = (): string => randomBytes(15).toString('base64url')

/** Hashes with argon2id. */
export const hashPassword = (password: string): Promise<string> => queue.run('new', () => hash(password, cost))

/** Verified for unknown accounts, so that the response time does not reveal whether an account exists. */
const dummyHash = `$argon2id$v=19$m=${cost.memoryCost},t=${cost.timeCost},p=${cost.parallelism}$${'A'.repeat(22)}$${'A'.repeat(43)}`

const argon2Hash = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$[A-Za-z0-9+/]{22,}\$[A-Za-z0-9+/]{43}$/

/** A hash contains its cost. The hashes of an imported organization could name any. */
function isAffordable(passwordHash: string): boolean {
  const [, memory, time, parallelism] = argon2Hash.exec(passwordHash) ?? []
  return Number(memory) <= cost.memoryCost && Number(time) <= cost.timeCost && Number(parallelism) <= cost.parallelism
}

export async function passwordFits(passwordHash: string | undefined, password: string): Promise<boolean> {
  if (isLongerThan(password, passwordLengthMax)) return false
  if (passwordHash !== undefined && !isAffordable(passwordHash)) return false
  const fits = await queue.run('check', () => verify(passwordHash ?? dummyHash, password))
  return fits && passwordHash !== undefined
}
