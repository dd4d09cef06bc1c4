import { parseArgs } from 'node:util'
import { version } from '../../platform/config/package-root.ts'
import { missingPrivilege } from '../../platform/db/connect-faults.ts'
import { Refusal, SetupFault } from '../../platform/values/errors.ts'
import { type Call, type Flags, textOf, UsageFault } from './call.ts'

type Command = {
  usage: string
  about: string
  flags?: Record<string, string>
  /** Flags without a value. */
  switches?: Record<string, string>
  /** Returns the exit code if it is not 0. */
  run: (call: Call) => Promise<unknown>
}

const passwordSwitch = 'Read the password from standard input. Without it, a password is generated and printed.'
const passwordFlag = 'The password. Visible to other users of this machine: use --password-stdin instead.'

const passphraseSwitch = 'Read the passphrase of the backup from standard input instead of BACKUP_PASSPHRASE.'

/** Flags of every command. */
const commonFlags = {
  'env-file': 'Read settings from this file instead of .env. The environment takes precedence.',
}

/** Commands that use only the public API, with their own flags. */
const developerCommands: Record<string, string> = {
  listen: 'Forward the events of an organization to a local address, signed like webhooks.',
  trigger: 'Cause an event by sending an email to a reserved test recipient.',
}

/** All other commands. Each loads its code when it runs: loading the service takes ten times as long as printing this list. */
const commands: Record<string, Command> = {
  start: {
    usage: 'start [--demo]',
    about: 'Run everything: API, web app and workers.',
    switches: { demo: 'Create an organization with sample data and print how to sign in to it.' },
    run: async (call) => (await import('./run.ts')).run(['serve', 'work'], call),
  },
  demo: {
    usage: 'demo remove',
    about: 'Delete the organization that start --demo created, with all of its data.',
    run: async (call) => (await import('./demo.ts')).removeDemoData(call),
  },
  serve: {
    usage: 'serve',
    about: 'Run the API and the web app only.',
    run: async (call) => (await import('./run.ts')).run(['serve'], call),
  },
  work: {
    usage: 'work',
    about: 'Run the workers only: sending, webhooks, imports.',
    run: async (call) => (await import('./run.ts')).run(['work'], call),
  },
  migrate: {
    usage: 'migrate',
    about: 'Run pending migrations and exit.',
    run: async (call) => (await import('./migrate.ts')).migrateDatabase(call),
  },
  distribute: {
    usage: 'distribute [--yes]',
    about: 'Distribute the tables by organization over the nodes of a Citus cluster.',
    switches: { yes: 'Distribute the tables. Without it, only print which tables would be.' },
    run: async (call) => (await import('./distribute.ts')).distributeTables(call),
  },
  config: {
    usage: 'config',
    about: 'Print every setting with its value and meaning.',
    run: async (call) => (await import('./config.ts')).showConfig(call),
  },
  doctor: {
    usage: 'doctor',
    about: 'Check the machine and the settings, and suggest fixes.',
    run: async (call) => (await import('./doctor.ts')).doctor(call),
  },
  openapi: {
    usage: 'openapi',
    about: 'Print the OpenAPI document.',
    run: async () => (await import('./openapi.ts')).printOpenApi(),
  },
  'classify-bounce': {
    usage: 'classify-bounce FILE…',
    about: 'Classify bounce and complaint emails; prints one JSON line per file.',
    run: async (call) => (await import('./classify-bounce.ts')).classifyBounceFiles(call),
  },
  'rebuild-counters': {
    usage: 'rebuild-counters',
    about: 'Recount all events; reports and corrects differences (there should be none).',
    run: async (call) => (await import('./rebuild-counters.ts')).rebuildAllCounters(call),
  },
  backup: {
    usage: 'backup FILE [--passphrase-stdin]',
    about: 'Write the database, the secret and the spool to a file while Waxwing is running.',
    switches: { 'passphrase-stdin': passphraseSwitch },
    run: async (call) => (await import('./backup.ts')).backUpDatabase(call),
  },
  restore: {
    usage: 'restore FILE [--passphrase-stdin] [--replace]',
    about: 'Restore a backup into an empty database. Sending is paused afterwards.',
    switches: {
      'passphrase-stdin': passphraseSwitch,
      replace: 'Delete what the database contains.',
    },
    run: async (call) => (await import('./restore.ts')).restoreDatabase(call),
  },
  export: {
    usage: 'export --organization ID FILE',
    about: 'Write one organization to a file, one JSON value per line.',
    flags: { organization: 'The id of the organization (org_…).' },
    run: async (call) => (await import('./export-organization.ts')).exportToFile(call),
  },
  import: {
    usage: 'import FILE',
    about: 'Import an exported organization. Importing it again changes nothing.',
    run: async (call) => (await import('./export-organization.ts')).importFromFile(call),
  },
  'confirm-import': {
    usage: 'confirm-import --organization ID',
    about: 'Let the API keys of an imported organization work, without the limits for new organizations.',
    flags: { organization: 'The id of the organization (org_…).' },
    run: async (call) => (await import('./export-organization.ts')).confirmImported(call),
  },
  'pause-sending': {
    usage: 'pause-sending',
    about: 'Stop all emails and webhooks. They are still accepted and queued.',
    run: async (call) => (await import('./pause-sending.ts')).pauseAllSending(call),
  },
  'resume-sending': {
    usage: 'resume-sending [--discard-queued]',
    about: 'Resume emails and webhooks after pause-sending or a restore.',
    switches: {
      'discard-queued': 'Mark what was due when the pause began as failed instead of sending it.',
    },
    run: async (call) => (await import('./pause-sending.ts')).resumeAllSending(call),
  },
  'create-organization': {
    usage: 'create-organization --name NAME --email EMAIL [--password-stdin]',
    about: 'Create an organization, its owner and an API key; prints them as JSON.',
    flags: {
      name: 'The name of the organization.',
      email: 'The email address of its owner.',
      password: passwordFlag,
    },
    switches: { 'password-stdin': passwordSwitch },
    run: async (call) => (await import('./create-organization.ts')).createOrganization(call),
  },
  'reset-password': {
    usage: 'reset-password --email EMAIL [--password-stdin]',
    about: 'Set a new password for a user and end all their sessions; prints JSON.',
    flags: {
      email: 'The email address of the user.',
      password: passwordFlag,
    },
    switches: { 'password-stdin': passwordSwitch },
    run: async (call) => (await import('./reset-password.ts')).setNewPassword(call),
  },
}

async function main(words: string[]): Promise<unknown> {
  const [name = 'help', ...rest] = words
  if (name === '--version' || name === '-v') return print(version)
  if (Object.hasOwn(developerCommands, name)) return (await import('./developer.ts')).runDeveloper(words)
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined
  if (!command) {
    const wanted = name === 'help' || name === '--help' || name === '-h'
    if (!wanted) process.stderr.write(`Unknown command "${name}".\n\n`)
    print(help())
    return wanted ? 0 : 2
  }
  if (rest.includes('--help') || rest.includes('-h')) return print(commandHelp(command))
  const options = Object.fromEntries([
    ...Object.keys({ ...command.flags, ...commonFlags }).map((flag) => [flag, { type: 'string' }] as const),
    ...Object.keys(command.switches ?? {}).map((flag) => [flag, { type: 'boolean' }] as const),
  ])
  const { values, positionals } = parseArgs({ args: rest, options, allowPositionals: true })
  const flags = values as Flags
  const { readSources } = await import('../../platform/config/config.ts')
  const sources = readSources(textOf(flags, 'env-file'))
  return command.run({ sources, flags, words: positionals })
}

function help(): string {
  const abouts = Object.entries(commands).map(([name, { about }]) => [name, about] as const)
  const lines = [...abouts, ...Object.entries(developerCommands)].map(([name, about]) => `  ${name.padEnd(22)}${about}`)
  return [
    `Waxwing ${version}: email engagement for product teams.`,
    '',
    'Usage: waxwing COMMAND [--env-file FILE] [--help]',
    '',
    ...lines,
    '',
    'Settings come from the environment, and from .env in the working directory or the file of --env-file: see',
    '`waxwing config`. Only start, serve, work, migrate and restore create a database.',
  ].join('\n')
}

function commandHelp({ usage, about, flags, switches }: Command): string {
  const lines = Object.entries({ ...flags, ...switches, ...commonFlags }).map(
    ([flag, meaning]) => `  --${flag.padEnd(16)}${meaning}`,
  )
  return [`Usage: waxwing ${usage} [--env-file FILE]`, '', about, '', ...lines].join('\n')
}

function print(text: string): number {
  process.stdout.write(`${text}\n`)
  return 0
}

// The reader of a pipe may close it early, such as `waxwing doctor | head`.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error
  process.exit()
})

try {
  process.exitCode = Number((await main(process.argv.slice(2))) ?? 0)
} catch (error) {
  const fault: Error & { code?: string } = missingPrivilege(error) ?? (error as Error)
  const isExpected = fault instanceof SetupFault || fault instanceof Refusal || fault.code?.startsWith('ERR_PARSE_ARGS')
  process.stderr.write(`${isExpected ? fault.message : fault.stack}\n`)
  process.exitCode = fault instanceof UsageFault ? 2 : 1
}
