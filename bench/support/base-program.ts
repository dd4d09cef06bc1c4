import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readdirSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { packageRoot } from '../../src/platform/config/package-root.ts'

const cache = join(tmpdir(), 'waxwing-guard')

/**
 * Builds the commit of the main branch that the working tree is based on, with the packages that are installed. On that
 * commit itself, the one before it.
 */
export function buildBase(wanted = findBase()): { commit: string; program: string } {
  const commit = git('rev-parse', wanted)
  const folder = join(cache, commit)
  const program = join(folder, 'dist/bin/cli.js')
  if (existsSync(program)) return { commit, program }
  rmSync(cache, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  execFileSync('sh', ['-c', 'git archive "$0" | tar -x -C "$1"', commit, folder], { cwd: packageRoot })
  linkPackages(folder)
  for (const args of [
    ['npm', 'run', '--silent', 'compile'],
    ['node', 'dist/scripts/build-service.js'],
  ])
    execFileSync(args[0]!, args.slice(1), { cwd: folder, stdio: 'inherit' })
  return { commit, program }
}

function findBase(): string {
  const head = git('rev-parse', 'HEAD')
  const branch = ['main', 'origin/main'].find((name) => git('branch', '--all', '--list', name, `remotes/${name}`))
  const base = branch ? git('merge-base', 'HEAD', branch) : head
  return base === head && git('status', '--porcelain') === '' ? git('rev-parse', 'HEAD~1') : base
}

/** Our own packages are links to folders of the checkout, and must lead to those of `folder`. */
function linkPackages(folder: string): void {
  const installed = join(packageRoot, 'node_modules')
  const target = join(folder, 'node_modules')
  symlinkSync(join(packageRoot, 'web/node_modules'), join(folder, 'web/node_modules'))
  mkdirSync(target)
  for (const name of readdirSync(installed).filter((each) => each !== '.cache'))
    if (name === '@waxwing')
      cpSync(join(installed, name), join(target, name), { recursive: true, verbatimSymlinks: true })
    else symlinkSync(join(installed, name), join(target, name))
}

const git = (...args: string[]) => execFileSync('git', args, { cwd: packageRoot, encoding: 'utf8' }).trim()
