import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { packageRoot } from '../config/package-root.ts'

export const migrationsFolder = join(packageRoot, 'src/platform/db/migrations')

/** The number of the newest migration that this process knows. The files do not change while it runs. */
export const newestMigration: number = Math.max(
  ...readdirSync(migrationsFolder)
    .filter((file) => file.endsWith('.sql'))
    .map((file) => Number.parseInt(file, 10)),
)
