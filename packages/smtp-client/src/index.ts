export type { OAuthSignIn } from './authenticate.ts'
export { openSmtp, SmtpConnection, type Unreachable } from './connection.ts'
export { toWireData, type WireData, withCrlf } from './data.ts'
export type { HandshakeStep, SmtpLimits, SmtpOptions, StepName } from './handshake.ts'
export { openRelay, type RelayOptions } from './relay.ts'
export type { RelayLimits } from './relay-limits.ts'
export type { ResolvedAddress } from './socket.ts'
export type {
  Envelope,
  LargeEmail,
  Mail,
  MailSource,
  ReadyEmail,
  RelayState,
  SendOptions,
  SendOutcome,
  Stage,
  Transport,
} from './transport.ts'
export { InvalidSmtpUrl, isLoopback, parseSmtpUrl, type SmtpTarget } from './url.ts'
