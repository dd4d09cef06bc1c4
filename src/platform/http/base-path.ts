import { rememberLast } from '../runtime/remember-last.ts'

/** The path prefix of the public address, without a slash at the end. */
export const basePathOf = rememberLast((baseUrl: string) => new URL(baseUrl).pathname.replace(/\/+$/, ''))
