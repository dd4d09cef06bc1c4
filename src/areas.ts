/**
 * The areas of the service, from the bottom to the top. test/architecture.test.ts enforces this map:
 *
 * - An area imports itself and areas above it in this list. Its subjects do the same, in their order.
 * - Of other areas, it imports `<area>/<area>.ts`: what that file does not export is private. Of platform, any file.
 * - Files beside the subjects belong to the whole area: subjects may import them, and they may import subjects.
 * - `uses` is the number of imports from each area except platform. It may only fall: a change that removes
 *   imports lowers the number here.
 * - Only the files of a subject import its SQL. In areas with `sharesSql`, all subjects of the area do.
 */
type Area = { about: string; subjects: string[]; uses: Record<string, number>; sharesSql?: true }

export const areas: Record<string, Area> = {
  platform: {
    about:
      'What every area builds on: values, settings, database, queue, HTTP, and calls to addresses that users typed.',
    subjects: [
      'values',
      'runtime',
      'config',
      'secrets',
      'object-storage',
      'tasks',
      'db',
      'installation',
      'queue',
      'processes',
      'http',
      'egress',
      'smtp',
    ],
    uses: {},
  },
  accounts: {
    about: 'Who may do what: organizations, people, sessions, API keys, and the log of API requests.',
    subjects: ['people', 'api-requests'],
    uses: {},
  },
  events: {
    about: 'What happened: recording and counting events, and passing them on as webhooks, feed and exports.',
    subjects: ['webhooks', 'recording', 'feed', 'exports'],
    uses: { accounts: 5 },
  },
  audience: {
    about: 'Who gets email: contacts, groups, segments, suppressions and imports.',
    subjects: ['segments', 'contacts', 'suppressions', 'bulk-actions', 'imports'],
    uses: { accounts: 11, events: 5 },
  },
  delivery: {
    about: 'By which way, as whom and how fast an email may leave: domains, mail servers and limits.',
    subjects: ['limits', 'dkim', 'domains', 'receiving-sites', 'mail-servers'],
    uses: { accounts: 7 },
  },
  content: {
    about: 'What an email says: flows, templates, parts, brands, images, files and MIME.',
    subjects: ['mime', 'link-checks', 'files', 'images', 'brands', 'flows', 'layouts', 'parts'],
    uses: { accounts: 8, audience: 1, delivery: 5 },
  },
  sending: {
    about: 'One email from acceptance to its outcome, with its attachments, over HTTP, SMTP or the Resend API.',
    subjects: ['attachments', 'inbox', 'attempts', 'acceptance', 'messages', 'submission', 'resend', 'system-emails'],
    sharesSql: true,
    uses: { accounts: 19, events: 6, audience: 8, delivery: 17, content: 36 },
  },
  broadcasts: {
    about: 'One email to many: drafts, audience, ledger, sending and results.',
    subjects: ['audience', 'ledger', 'results', 'sending', 'drafts'],
    uses: { accounts: 7, events: 6, audience: 11, delivery: 11, content: 18, sending: 15 },
    sharesSql: true,
  },
  engagement: {
    about: 'What recipients do: opens, clicks, unsubscriptions, bounces and complaints, and the reports about them.',
    subjects: ['tracking', 'bounces', 'reports'],
    uses: { accounts: 6, events: 16, audience: 3, delivery: 4, content: 3, sending: 8 },
    sharesSql: true,
  },
  operations: {
    about: 'Running the service: status, notices, privacy, documentation, MCP, backup, demo and commands.',
    subjects: ['documentation', 'notices', 'sending-status', 'privacy', 'mcp', 'backup', 'demo', 'commands'],
    uses: {
      accounts: 19,
      events: 11,
      audience: 5,
      delivery: 14,
      content: 3,
      sending: 11,
      broadcasts: 1,
      engagement: 2,
    },
  },
}
