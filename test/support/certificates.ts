import { readFileSync } from 'node:fs'

const read = (name: string) => readFileSync(new URL(`certificates/${name}`, import.meta.url), 'utf8')

/**
 * For tests only: a CA whose key was discarded and two server certificates signed by it, valid from 2020 to 2120.
 * `localhost` is valid for localhost, 127.0.0.1 and ::1; `elsewhere` is valid for another name.
 */
export const testCa = () => read('ca.pem')
export const localhost = () => ({ cert: read('localhost.pem'), key: read('localhost-key.pem') })
export const elsewhere = () => ({ cert: read('elsewhere.pem'), key: read('elsewhere-key.pem') })
