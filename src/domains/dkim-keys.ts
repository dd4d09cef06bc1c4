import { generateKeyPair, randomBytes } from 'node:crypto'
import { promisify } from 'node:util'
import type { Db } from '../db/db.ts'
import { Pacer } from '../runtime/pacer.ts'
import { type AppSecrets, SecretBox } from '../secrets/secrets.ts'
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

/** Encrypts keys that depend on the previous APP_SECRET again, so that the previous one can be removed. */
export async function resealDomainKeys({ db, box }: { db: Db; box: SecretBox }): Promise<void> {
  const pacer = new Pacer()
  let after: SealedKeys | undefined
  do {
    const rows = await selectKeysAfter(db, after, pageSize)
    for (const row of rows) {
      if (pacer.isDue) await pacer.turn()
      const dkimKey = box.reseal(row.dkimKey)
      const nextDkimKey = row.nextDkimKey && box.reseal(row.nextDkimKey)
      if (dkimKey || nextDkimKey)
        await replaceKeys(db.statement, row, {
          dkimKey: dkimKey ?? row.dkimKey,
          nextDkimKey: nextDkimKey ?? row.nextDkimKey,
        })
    }
    after = rows.length === pageSize ? rows.at(-1) : undefined
  } while (after)
}
