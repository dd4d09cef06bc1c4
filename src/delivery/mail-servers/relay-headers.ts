/**
 * Header fields from which mail servers and providers take instructions: further recipients, the account, the IP addresses that
 * send, tracking. Only the operator of a mail server may use them, and it may be shared, so emails of organizations are sent without
 * them. A name also stands for all that continue with a hyphen.
 */
const instructions = [
  // Providers
  ...[
    'elasticemail',
    'mailersend',
    'mailgun',
    'mailin',
    'mailjet',
    'mc',
    'mj',
    'msys',
    'mt',
    'pm',
    'postmark',
    'sendgrid',
  ],
  ...['ses', 'sg', 'sib', 'smtp2go', 'smtpapi', 'smtpcom'],
  // Mail servers: PowerMTA, GreenArrow, ZoneMTA, KumoMTA, Momentum, Postal
  ...['binding', 'campaign', 'envelope', 'envid', 'greenarrow', 'ip-?pool', 'job', 'kumo[a-z]*', 'pmta', 'postal'],
  ...['sending-zone', 'tenant', 'virtual-?mta', 'vmta'],
  // Traces of the way to us
  ...['original-to', 'received'],
]

const pattern = new RegExp(`^x-(?:${instructions.join('|')})(?:-|$)`)

/** Returns true for header fields that are not sent for organizations. The name is in lower case. */
export const instructsRelay = (name: string): boolean => pattern.test(name)
