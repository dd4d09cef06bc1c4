import { generateKeyPair, randomBytes } from 'node:crypto'
import { promisify } from 'node:util'
import type { Db } from '../../platform/db/db.ts'
import { Pacer } from '../../platform/runtime/pacer.ts'
import { type AppSecrets, SecretBox } from '../../platform/secrets/secrets.ts'
import { type NewKey, replaceKeys, type SealedKeys, selectKeysAfter } from './domains.sql.ts'

const makeKeyPair = promisify(generateKeyPair)

export const domainKeyBox = (secrets: AppSecrets): SecretBox => new SecretBox(secrets, 'domain keys')

/**
 * Makes an RSA key of 2,048 bits, which every receiver supports. The private key is encrypted and never leaves the
 * service.
 */
export async function newDkimKey(box: SecretBox): Promise<NewKey> {
  const { privateKey, publicKey } = await makeKeyPair('rsa', {
    modulusLength: 2_048,
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'der' },
  })
  return {
    // Different for each key, so that a receiver cannot use the record of an earlier one from its cache.
    selector: `wax${randomBytes(4).toString('hex')}`,
    privateKey: box.seal(privateKey),
    publicKey: publicKey.toString('base64'),
  }
}

const pageSize = 500

type KeyParts = { db: Db; box: SecretBox }

/** Yields the keys of all domains, without blocking the event loop for long. */
async function* readKeys(db: Db): AsyncGenerator<SealedKeys> {
  const pacer = new Pacer()
  let after: SealedKeys | undefined
  do {
    const rows = await selectKeysAfter(db, after, pageSize)
    for (const row of rows) {
      if (pacer.isDue) await pacer.turn()
      yield row
    }
    after = rows.length === pageSize ? rows.at(-1) : undefined
  } while (after)
}

/** Encrypts keys that depend on the previous APP_SECRET again, so that the previous one can be removed. */
export async function resealDomainKeys({ db, box }: KeyParts): Promise<void> {
  for await (const row of readKeys(db)) {
    const dkimKey = box.reseal(row.dkimKey)
    const nextDkimKey = row.nextDkimKey && box.reseal(row.nextDkimKey)
    if (dkimKey || nextDkimKey)
      await replaceKeys(db.statement, row, {
        dkimKey: dkimKey ?? row.dkimKey,
        nextDkimKey: nextDkimKey ?? row.nextDkimKey,
      })
  }
}

/** Returns how many domains have a key that can be decrypted only with APP_SECRET_PREVIOUS. */
export async function countDependentKeys({ db, box }: KeyParts): Promise<number> {
  let count = 0
  for await (const { dkimKey, nextDkimKey } of readKeys(db))
    if ([dkimKey, nextDkimKey].some((key) => key !== null && box.reseal(key) !== undefined)) count++
  return count
}
