import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { Waxwing } from './client.ts'
import { WaxwingError } from './errors.ts'
import { eventNames } from './events.ts'
import { listen, newSigningSecret } from './listen.ts'
import { trigger, triggerableEvents } from './trigger.ts'

// The commands of this package, which are also commands of the service. They use only the public API.

export type CommandLine = {
  args: readonly string[]
  /** Default: that of this process. */
  environment?: Readonly<Record<string, string | undefined>>
  /** The command that users type, for help and messages. */
  program: string
  print: (line: string) => void
  printError: (line: string) => void
  /** Aborted to end `listen`. */
  signal: AbortSignal
}

type Flags = Readonly<Record<string, string | undefined>>
type Command = {
  usage: string
  about: string
  flags: Readonly<Record<string, string>>
  more?: string
  run: (line: CommandLine, flags: Flags, words: readonly string[]) => Promise<number>
}

const urlDefault = 'http://localhost:3000'

const commonFlags = {
  'api-key': 'The API key (wxk_…). Default: WAXWING_API_KEY in the environment or in .env.',
  url: `The base URL of your Waxwing. Default: WAXWING_URL, or ${urlDefault}.`,
}

/** The commands by name. */
export const developerCommands: Readonly<Record<'listen' | 'trigger', Command>> = {
  listen: {
    usage: 'listen --forward-to URL [--events NAMES] [--secret SECRET]',
    about: 'Forward the events of an organization to a local address, signed like webhooks, until Ctrl-C.',
    flags: {
      'forward-to': 'The address that receives the events, for example http://localhost:4000/hook.',
      events: 'Names of events, separated by commas. Default: all.',
      secret: 'The signing secret (whsec_…). Default: a new one, which is printed.',
      after: 'A cursor of the event feed to begin after. Default: only new events.',
      ...commonFlags,
    },
    more: 'The key needs the scope metrics:read. Each event is posted once, whatever the response is.',
    run: runListen,
  },
  trigger: {
    usage: 'trigger EVENT [--flow ID [--context JSON] | --from ADDRESS]',
    about: 'Cause an event by sending an email to a reserved test recipient. No mail server is involved.',
    flags: {
      flow: 'The flow to send (flw_…). Without it, a short email is sent.',
      context: 'The variables of the flow as a JSON object.',
      from: 'The sender of the short email. Needed if senders must be in a verified domain.',
      ...commonFlags,
    },
    more: `Events: ${triggerableEvents.join(', ')}.\nThe key needs the scope flows:send, and metrics:read to report the event.`,
    run: runTrigger,
  },
}

/** Runs a command and returns its exit code: 2 if it was called incorrectly, 1 if it failed. */
export async function runDeveloperCommand(line: CommandLine): Promise<number> {
  const [name = 'help', ...rest] = line.args
  const command = Object.hasOwn(developerCommands, name)
    ? developerCommands[name as keyof typeof developerCommands]
    : undefined
  if (!command) {
    const isWanted = ['help', '--help', '-h'].includes(name)
    if (!isWanted) line.printError(`Unknown command "${name}".\n`)
    line.print(help(line.program))
    return isWanted ? 0 : 2
  }
  if (rest.includes('--help') || rest.includes('-h')) {
    line.print(commandHelp(line.program, command))
    return 0
  }
  try {
    const options = Object.fromEntries(Object.keys(command.flags).map((flag) => [flag, { type: 'string' as const }]))
    const { values, positionals } = parseArgs({ args: rest, options, allowPositionals: true })
    return await command.run(line, values as Flags, positionals)
  } catch (error) {
    if (line.signal.aborted) return 0
    line.printError(messageOf(error, line.program))
    return isUsageFault(error) ? 2 : 1
  }
}

const knownEvents: readonly string[] = eventNames

async function runListen(line: CommandLine, flags: Flags, words: readonly string[]): Promise<number> {
  const forwardTo = flags['forward-to']
  if (!forwardTo || !URL.canParse(forwardTo) || !/^https?:/.test(forwardTo) || words.length > 0)
    throw new TypeError('--forward-to must be an address, for example --forward-to http://localhost:4000/hook.')
  const secret = flags.secret ?? newSigningSecret()
  if (!/^whsec_[A-Za-z0-9+/]+={0,2}$/.test(secret)) throw new TypeError('--secret must be a signing secret, whsec_….')
  const wanted = flags.events?.split(',').map((name) => name.trim())
  const unknown = wanted?.find((name) => !knownEvents.includes(name))
  if (unknown !== undefined)
    throw new TypeError(`${unknown} is not an event. --events can name ${knownEvents.join(', ')}.`)
  const client = clientOf(line, flags)
  const { organizationName } = await client.checkToken()
  line.print(`Forwarding events of ${organizationName} to ${forwardTo}`)
  if (!flags.secret) line.print(`Signing secret of this run: ${secret}`)
  const { signal, print } = line
  await listen({ client, forwardTo, secret, eventNames: wanted, after: flags.after, signal, print })
  return 0
}

async function runTrigger(line: CommandLine, flags: Flags, [eventName, ...more]: readonly string[]): Promise<number> {
  if (!eventName || more.length > 0) throw new TypeError(`Name one event: ${triggerableEvents.join(', ')}.`)
  if (!triggerableEvents.includes(eventName))
    throw new TypeError(`${eventName} cannot be triggered. Choose one of ${triggerableEvents.join(', ')}.`)
  const client = clientOf(line, flags)
  const context = flags.context === undefined ? undefined : parseContext(flags.context)
  const { flow: flowId, from } = flags
  const { messageId, event } = await trigger({ client, eventName, flowId, context, from, signal: line.signal })
  line.print(`Sent ${messageId}.`)
  if (event) line.print(`${event.event_name} ${event.id}`)
  else line.print(`${eventName} did not appear in the event feed within 30 seconds, or the key may not read it.`)
  return event ? 0 : 1
}

function parseContext(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>
  } catch {}
  throw new TypeError('--context must be a JSON object, for example \'{"name":"Ada"}\'.')
}

function clientOf({ environment = process.env }: CommandLine, flags: Flags): Waxwing {
  const variables = { ...readEnvFile(), ...environment }
  const apiKey = flags['api-key'] ?? variables.WAXWING_API_KEY
  if (!apiKey) throw new TypeError('An API key is required: --api-key wxk_…, or WAXWING_API_KEY in the environment.')
  return new Waxwing({ apiKey, baseUrl: flags.url ?? variables.WAXWING_URL ?? urlDefault })
}

/** The two variables in .env of the working directory, if it has any. */
function readEnvFile(): Record<string, string> {
  try {
    const lines = readFileSync('.env', 'utf8').matchAll(/^(WAXWING_API_KEY|WAXWING_URL)=["']?([^"'\r\n]*)["']?\s*$/gm)
    return Object.fromEntries([...lines].map(([, name, value]) => [name!, value!]))
  } catch {
    return {}
  }
}

const isUsageFault = (error: unknown) =>
  error instanceof TypeError || (error as { code?: string }).code?.startsWith('ERR_PARSE_ARGS') === true

function messageOf(error: unknown, program: string): string {
  if (isUsageFault(error)) return `${(error as Error).message}\nSee ${program} --help.`
  if (!(error instanceof WaxwingError)) return (error as Error).stack ?? String(error)
  if (error.status === 401) return 'The API key is invalid or was revoked. Pass another one with --api-key.'
  if (error.type === 'sender_not_verified')
    return `${error.message} Pass an address of such a domain with --from, or a flow with --flow.`
  return error.requestId ? `${error.message} (${error.requestId})` : error.message
}

function help(program: string): string {
  const lines = Object.entries(developerCommands).map(([name, { about }]) => `  ${name.padEnd(10)}${about}`)
  return [`Usage: ${program} COMMAND [--help]`, '', ...lines].join('\n')
}

function commandHelp(program: string, { usage, about, flags, more }: Command): string {
  const lines = Object.entries(flags).map(([flag, meaning]) => `  --${flag.padEnd(12)}${meaning}`)
  return [`Usage: ${program} ${usage}`, '', about, '', ...lines, ...(more ? ['', more] : [])].join('\n')
}
