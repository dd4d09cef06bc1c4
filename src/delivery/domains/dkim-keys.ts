import { generateKeyPair, randomBytes } from 'node:crypto'
import { promisify } from 'node:util'
import type { SealedTable } from '../../platform/db/sealed.ts'
import { type AppSecrets, SecretBox } from '../../platform/secrets/secrets.ts'
import type { NewKey, Proof } from './domains.sql.ts'

const makeKeyPair = promisify(generateKeyPair)

export const domainKeys: SealedTable = {
  name: 'domains',
  purpose: 'domain keys',
  needed: ['dkim_key'],
  others: ['next_dkim_key'],
  words: {
    values: 'keys',
    row: 'domain',
    consequence: 'the domains are not verified',
    remedy: 'rotate the key of each domain',
  },
}

export const domainKeyBox = (secrets: AppSecrets): SecretBox => new SecretBox(secrets, domainKeys.purpose)

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

/** A domain is verified when both are published. */
export const newProof = async (box: SecretBox): Promise<Proof> => ({
  ownershipToken: randomBytes(16).toString('hex'),
  key: await newDkimKey(box),
})
