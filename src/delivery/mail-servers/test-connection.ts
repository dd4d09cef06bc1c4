import { type HandshakeStep, openSmtp, parseSmtpUrl, type SmtpOptions, type StepName } from '@waxwing/smtp-client'
import { writeUrl } from './connection.ts'
import { explain } from './explain-failure.ts'
import type { Target } from './settings.ts'

export type TestStep = { step: StepName | 'quit'; ok: boolean; detail: string }
export type ConnectionTest = { ok: boolean; steps: TestStep[] }

const connectMs = 6_000
const detailLengthMax = 600
const addressesShownMax = 6

/**
 * Connects and signs in, without sending an email, within `totalMs`. Never throws: what fails is the last step, with what
 * to do about it.
 */
export async function testConnection(target: Target, options: SmtpOptions, totalMs: number): Promise<ConnectionTest> {
  const steps: TestStep[] = []
  const add = (step: TestStep['step'], ok: boolean, detail: string) =>
    steps.push({ step, ok, detail: detail.length > detailLengthMax ? `${detail.slice(0, detailLengthMax)}…` : detail })
  const { connection } = target
  const opened = await openSmtp(parseSmtpUrl(writeUrl(connection)), {
    ...options,
    limits: { connectMs, greetingMs: totalMs, commandMs: totalMs, handshakeMs: totalMs },
    onStep: (step) => add(step.step, true, describe(step, target)),
  })
  if (opened.kind === 'open') {
    opened.connection.quit()
    add('quit', true, 'The connection works. No email was sent.')
    return { ok: true, steps }
  }
  add(opened.step, false, explain(opened, target))
  return { ok: false, steps }
}

const list = new Intl.ListFormat('en', { type: 'conjunction' })

function describe(step: HandshakeStep, { connection, oauth }: Target): string {
  switch (step.step) {
    case 'resolve': {
      const shown = step.addresses.slice(0, addressesShownMax)
      return shown.length === 1 && shown[0] === connection.host
        ? `${connection.host} is an address.`
        : `${connection.host} has the ${shown.length === 1 ? 'address' : 'addresses'} ${list.format(shown)}.`
    }
    case 'connect':
      return `Connected to ${step.address}, port ${connection.port}, in ${step.ms} ms.`
    case 'greeting':
      return step.text
    case 'ehlo':
      return step.extensions.length === 0 ? 'Offers no extensions.' : `Offers ${step.extensions.join(', ')}.`
    case 'tls': {
      const isChecked = connection.verifiesCertificate && connection.security !== 'opportunistic'
      const issuer = step.issuer && ` issued by ${step.issuer}`
      const until = step.expiresAt ? `, valid until ${step.expiresAt.toISOString().slice(0, 10)}` : ''
      const name = step.subject || 'an unnamed host'
      return `${step.protocol}, certificate for ${name}${issuer}${until}.${isChecked ? '' : ' The certificate was not checked.'}`
    }
    case 'auth':
      // A token that is both the user name and the password is not shown.
      if (!oauth && connection.username === connection.password) return `Signed in with ${step.method}.`
      return `Signed in as ${oauth?.user ?? connection.username} with ${step.method}.`
  }
}
