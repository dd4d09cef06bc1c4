import {
  type Domain,
  isOnlyHere,
  type RecordState,
  type RecordToSet,
  type ServerState,
  type UsedDefaultSender,
} from '../../delivery/delivery.ts'
import { domainOfAddress, hostOf } from '../../platform/values/domain.ts'
import { mailboxText } from '../../sending/sending.ts'
import type { RealEmail } from './recent-emails.sql.ts'
import type { Health } from './sending-status.ts'

/** In the order in which they are done. */
export const stepKeys = [
  'mail_server',
  'domain',
  'default_sender',
  'base_url',
  'dns',
  'bounces',
  'postal_address',
  'first_email',
] as const
export type StepKey = (typeof stepKeys)[number]

/** Email is sent without the others, but less of it arrives, or no marketing email. */
const required: ReadonlySet<StepKey> = new Set(['mail_server', 'domain', 'default_sender', 'base_url', 'first_email'])

export type StepState = 'done' | 'todo' | 'failing'
type Result = { state: StepState; message: string; domain?: Domain | undefined; server?: ServerState | undefined }
export type SetupStep = Result & { key: StepKey; isRequired: boolean }

/** What is really used for the email of the organization. */
export type SetupFacts = {
  /** Whether the names of settings are shown. */
  isOperator: boolean
  /** Of the organization. Without any, those of the installation are used. */
  servers: readonly ServerState[]
  /** Whether its transactional and marketing emails leave the service. */
  leaves: { transactional: boolean; marketing: boolean }
  /** The name of the first server of the installation that is tried. */
  carrier: string | undefined
  /** Of what carries its emails. */
  health: Health
  domains: readonly Domain[]
  sender: UsedDefaultSender
  /** The domain for which the installation signs the emails of the sender, if it does. */
  installationSigns: string | undefined
  baseUrl: { url: string; source: 'environment' | 'app' | 'default' }
  /** For the domain of the installation. */
  records: readonly (RecordToSet & RecordState)[]
  bounceDomain: string | undefined
  bounceProviders: readonly string[]
  /** A mail server of the organization whose provider reports bounces. */
  reportingServer: string | undefined
  hasPostalAddress: boolean
  realEmail: RealEmail | undefined
}

const list = new Intl.ListFormat('en')
const done = (message: string): Result => ({ state: 'done', message })
const todo = (message: string, more: Partial<Result> = {}): Result => ({ state: 'todo', message, ...more })
const failing = (message: string, more: Partial<Result> = {}): Result => ({ state: 'failing', message, ...more })

/** Reasons are replies of mail servers, or sentences. */
const ended = (reason: string | null): string => {
  const text = reason ?? 'no reason is known'
  return /[.!?]$/.test(text) ? text : `${text}.`
}

/** Returns the steps from no mail server to the first email in a real mailbox. */
export const setupSteps = (facts: SetupFacts): SetupStep[] =>
  stepKeys.map((key) => ({ key, isRequired: required.has(key), ...results[key](facts) }))

export const isReady = (steps: readonly SetupStep[]): boolean =>
  steps.every(({ isRequired, state }) => !isRequired || state === 'done')

const results: Record<StepKey, (facts: SetupFacts) => Result> = {
  mail_server: mailServer,
  domain,
  default_sender: defaultSender,
  base_url: baseUrl,
  dns,
  bounces,
  postal_address: ({ hasPostalAddress }) =>
    hasPostalAddress
      ? done('Marketing emails show your postal address.')
      : todo('Marketing emails must show a postal address. Add yours to the brand.'),
  first_email: firstEmail,
}

function mailServer({ servers, leaves, health, carrier, isOperator }: SetupFacts): Result {
  if (!leaves.transactional && !leaves.marketing)
    return todo('No mail server is connected, so every email stays in the built-in inbox. Nobody receives them.')
  const kind = leaves.transactional ? 'Marketing' : 'Transactional'
  if (!leaves.transactional || !leaves.marketing)
    return failing(`No mail server carries ${kind.toLowerCase()} email. It stays in the built-in inbox.`)
  if (servers.length === 0) {
    if (health.state !== 'failing')
      return done(
        `Emails go through the mail server of this installation${isOperator && carrier ? ` (${carrier})` : ''}.`,
      )
    const reason = isOperator && health.lastError ? `: ${ended(health.lastError)}` : ' at the moment.'
    return failing(`The mail server of this installation does not accept email${reason}`)
  }
  const broken = servers.filter(({ status }) => status === 'failing')
  const working = servers.filter(({ status }) => status === 'working')
  const [first] = broken
  if (first && working.length === 0)
    return failing(`${first.name} does not accept email: ${ended(first.failure)}`, { server: first })
  if (working.length === 0) {
    const [server] = servers
    return todo(`${server!.name} has not been tested yet. Test it, or send an email.`, { server })
  }
  const through = `Emails go through ${list.format(working.map(({ name }) => name))}.`
  return done(first ? `${through} ${first.name} does not accept email: ${ended(first.failure)}` : through)
}

const isUsable = ({ status }: Domain) => status === 'verified' || status === 'warning'

function domain({ domains, installationSigns }: SetupFacts): Result {
  const vanishing = domains.find(({ status }) => status === 'warning')
  if (vanishing)
    return failing(`Records of ${vanishing.name} have vanished. Without them, it can be used for a day only.`, {
      domain: vanishing,
    })
  const usable = domains.filter(isUsable)
  if (usable.length > 0)
    return done(
      `Emails from ${list.format(usable.slice(0, 3).map(({ name }) => name))} are signed, so receivers trust them.`,
    )
  if (installationSigns) return done(`Emails from ${installationSigns} are signed by this installation.`)
  const lost = domains.find(({ status }) => status === 'unverified')
  if (lost) {
    const { dkim } = lost.checks
    const advice = dkim?.status === 'wrong' && dkim.detail ? dkim.detail : 'Publish its records again.'
    return failing(`${lost.name} is not verified any more. ${advice}`, { domain: lost })
  }
  const [pending] = domains
  if (pending)
    return todo(`${pending.name} waits for its DNS records. They are looked up every minute.`, { domain: pending })
  return todo('Receivers reject or hide email from domains that are not set up. Add the domain of your From address.')
}

function defaultSender({ sender, domains, isOperator }: SetupFacts): Result {
  const { unusable } = sender
  const leaves = `Emails without a sender of their own leave as ${mailboxText(sender)}`
  if (unusable) return failing(`${unusable.email} may not be used: its domain is not verified. ${leaves}.`)
  if (isOnlyHere(domainOfAddress(sender.email)))
    return todo(`${leaves}, which receivers reject. Choose an address of your domain.`)
  const unverified = domains.find((each) => each.name === domainOfAddress(sender.email) && !isUsable(each))
  if (unverified) return todo(`${leaves}, but ${unverified.name} is not verified yet.`, { domain: unverified })
  const source = sender.isChosen ? '' : isOperator ? ', from MAIL_FROM' : ', the sender of this installation'
  return done(`${leaves}${source}.`)
}

function baseUrl({ baseUrl: { url, source }, isOperator }: SetupFacts): Result {
  const set = source === 'environment' && isOperator ? ' It is set by BASE_URL in the environment.' : ''
  if (!isOnlyHere(hostOf(new URL(url)))) return done(`Links in emails start with ${url}.${set}`)
  const advice = isOperator
    ? set
      ? ' Change it there.'
      : ' Enter the public address.'
    : ' Ask the operator to set the public address.'
  return todo(`Links and images in emails start with ${url}, which other people cannot open.${set}${advice}`)
}

/** Of the domain of the default sender. */
function dns({ sender, domains, records, isOperator }: SetupFacts): Result {
  const name = domainOfAddress(sender.email)
  const domain = domains.find((each) => each.name === name)
  if (domain) return ownDns(domain)
  const installationRecords = records.filter(({ purpose }) => purpose !== 'bounces')
  if (isOnlyHere(name) || installationRecords.length === 0)
    return todo('SPF, DKIM and DMARC show receivers that emails are yours. Add a domain to see its records.')
  if (!isOperator) return done(`The records of ${name} are kept by the operator of this installation.`)
  const wrong = installationRecords.filter(({ status }) => status === 'missing' || status === 'different')
  if (wrong.length > 0)
    return failing(`Publish ${list.format(wrong.map(({ purpose }) => purpose))} of ${name}, as listed below.`)
  return installationRecords.every(({ status }) => status === 'found')
    ? done(`${list.format(installationRecords.map(({ purpose }) => purpose))} of ${name} are published.`)
    : todo(`The records of ${name} have not been looked up yet.`)
}

const authenticating = [
  ['spf', 'SPF'],
  ['dkim', 'DKIM'],
  ['dmarc', 'DMARC'],
] as const

function ownDns(own: Domain): Result {
  // SPF has no record while no mail server is known.
  const wanted = authenticating.filter(([key]) => key !== 'spf' || own.checks.spf)
  const titles = (status: string) =>
    wanted.flatMap(([key, title]) => ((own.checks[key]?.status ?? 'unknown') === status ? [title] : []))
  const wrong = titles('wrong')
  if (wrong.length > 0) return failing(`Correct ${list.format(wrong)} of ${own.name}.`, { domain: own })
  const missing = titles('missing')
  if (missing.length > 0) return todo(`Publish ${list.format(missing)} of ${own.name}.`, { domain: own })
  const unknown = titles('unknown')
  if (unknown.length > 0)
    return todo(`${list.format(unknown)} of ${own.name} could not be looked up yet.`, { domain: own })
  return done(`${list.format(wanted.map(([, title]) => title))} of ${own.name} are published.`)
}

function bounces({ bounceDomain, bounceProviders, reportingServer, servers, isOperator }: SetupFacts): Result {
  const sources = [
    ...(bounceDomain ? [`email to ${bounceDomain}`] : []),
    ...bounceProviders,
    ...(reportingServer ? [`reports to ${reportingServer}`] : []),
  ]
  if (sources.length > 0) return done(`Bounces and complaints arrive by ${list.format(sources)}.`)
  const why = 'Without bounces, addresses that no longer exist are not suppressed.'
  const here = isOperator
    ? ' Or set BOUNCE_DOMAIN and BOUNCE_SMTP_PORT, or the PROVIDER_ setting of your provider.'
    : ''
  return todo(`${why} Providers report them to an address that is shown with your mail server.${here}`, {
    server: servers[0],
  })
}

function firstEmail({ realEmail, leaves }: SetupFacts): Result {
  if (!leaves.transactional && !realEmail) return todo('Connect a mail server first, then send an email to yourself.')
  if (!realEmail) return todo('Send an email to yourself, and look whether it arrives.')
  if (realEmail.status === 'sent') return done(`The mail server has accepted an email to ${realEmail.email}.`)
  return failing(`The email to ${realEmail.email} was rejected: ${ended(realEmail.reason)}`)
}
