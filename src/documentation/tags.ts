import { webhookTag } from './webhook-events.ts'

/** The groups of the reference and their tags, in the order in which they are shown. */
const groups: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'Public API': {
    'Public API':
      'The operations that an application calls while it runs: add contacts to a group, send an email through a flow, and read metrics. Authenticate with an API key in `X-Api-Token`.',
  },
  Audience: {
    Contacts:
      'A contact is a person that an organization can send email to. Contacts are unique by email address, without regard to case. Large lists are imported from CSV files in the background.',
    Groups: 'A group is a named list of contacts. A contact can be in any number of groups.',
    Segments:
      'A segment is a saved filter of contacts: by fields, attributes, groups, status, and what they did. It has no members of its own: the filter is evaluated whenever the segment is used.',
    Suppressions:
      'A suppressed address receives no email. Addresses are suppressed after a hard bounce or a complaint, after an unsubscription (marketing email only), or by hand.',
  },
  Email: {
    Flows:
      'A flow is an email template with a sender. Templates use Liquid, in HTML or MJML. Each change of the content creates a version, and a message keeps the version that it was sent with.',
    Broadcasts:
      'A broadcast sends one version of a flow to the contacts of groups and segments, each of them once. Starting it freezes its recipients; every recipient has a status.',
    Messages: 'A message is the record of one email to one contact, with its status and its events.',
    Inbox: 'Without a mail server, email is not sent but stored in the built-in inbox, where it can be inspected.',
    Sending: 'The state of the mail server, DKIM and the DNS records.',
    Providers:
      'Endpoints for the event webhooks of email providers. They report bounces and complaints of email that was sent through them.',
  },
  Events: {
    Events: 'Everything that happened to messages and contacts, and the counts derived from it.',
    Webhooks:
      'A webhook sends events to an HTTPS endpoint as signed POST requests. The payloads are described under Webhook events.',
    [webhookTag.name]: webhookTag.description,
    Deliveries: 'A delivery is one event for one webhook, with a log of every attempt.',
  },
  Administration: {
    Accounts: 'Registration, sign-in and the signed-in user.',
    Organization: 'The organization that everything belongs to.',
    Team: 'The members of the organization, their roles, and invitations.',
    'API keys': 'Keys for programs. A key belongs to one organization and carries scopes.',
  },
  Operations: {
    Documentation: 'The machine-readable description of this API.',
    Health: 'Checks for load balancers and orchestrators.',
  },
}

export const tags = Object.values(groups).flatMap((group) =>
  Object.entries(group).map(([name, description]) => ({ name, description })),
)
export const tagGroups = Object.entries(groups).map(([name, group]) => ({ name, tags: Object.keys(group) }))
