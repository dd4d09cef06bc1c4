import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { packageRoot } from '../config/package-root.ts'

/** Returns the content of a file in docs/reference: texts of the API reference that do not belong to one route. */
export const referenceText = (name: string) => readFileSync(join(packageRoot, 'docs', 'reference', name), 'utf8').trim()
