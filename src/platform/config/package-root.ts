import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The root directory of the package, whether the code runs from src/, dist/src/ or dist/bin/. */
export const packageRoot = (() => {
  let folder = dirname(fileURLToPath(import.meta.url))
  while (!existsSync(join(folder, 'src/platform/db/migrations'))) {
    if (folder === dirname(folder))
      throw new Error('The installation is incomplete: src/platform/db/migrations is missing.')
    folder = dirname(folder)
  }
  return folder
})()

const isCompiled = fileURLToPath(import.meta.url).startsWith(join(packageRoot, 'dist', 'src'))

/**
 * Where the child processes of this program are: those of the same build. If it runs from source, they are those of the
 * last build, because Node 20 cannot run TypeScript.
 */
export const programFolder = join(packageRoot, 'dist', isCompiled ? 'src' : 'bin')

export const version: string = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8')).version
