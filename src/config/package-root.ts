import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The package's folder, whether this runs from src/ or from dist/src/. */
export const packageRoot = (() => {
  let folder = dirname(fileURLToPath(import.meta.url))
  while (!existsSync(join(folder, 'src', 'db', 'migrations'))) folder = dirname(folder)
  return folder
})()

export const version: string = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8')).version
