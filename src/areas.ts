/**
 * The areas of the service, from the bottom to the top. test/architecture.test.ts enforces this map:
 *
 * - An area imports itself and areas above it in this list. Its subjects do the same, in their order.
 * - Of other areas, it imports `<area>/<area>.ts`: what that file does not export is private. Of platform, any file.
 *   `namesMax` is how many names that file may export.
 * - Files beside the subjects belong to the whole area: subjects may import them, and they may import subjects. Besides
 *   area.ts, base.ts and `<area>.ts` there are at most `filesMax`.
 * - Both limits are the numbers of today: a change that removes names or files lowers them, and one that raises them says
 *   why in its commit.
 * - Only the files of a subject import its SQL. In areas with `sharesSql`, all subjects of the area do.
 */
type Area = { about: string; subjects: string[]; namesMax?: number; filesMax?: number; sharesSql?: true }

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
    filesMax: 1,
  },
  accounts: {
    about: 'Who may do what: organizations, people, sessions, API keys, and the log of API requests.',
    subjects: ['people', 'api-requests'],
    namesMax: 52,
  },
  events: {
    about: 'What happened: recording and counting events, and passing them on as webhooks, feed and exports.',
    subjects: ['webhooks', 'recording', 'feed', 'exports'],
    namesMax: 34,
  },
  audience: {
    about: 'Who gets email: contacts, groups, segments, suppressions and imports.',
    subjects: ['segments', 'contacts', 'suppressions', 'bulk-actions', 'imports'],
    namesMax: 42,
  },
  delivery: {
    about: 'By which way, as whom and how fast an email may leave: domains, mail servers and limits.',
    subjects: ['limits', 'dkim', 'domains', 'receiving-sites', 'mail-servers'],
    namesMax: 67,
  },
  content: {
    about: 'What an email says: flows, templates, parts, brands, images, files and MIME.',
    subjects: ['mime', 'link-checks', 'files', 'images', 'brands', 'flows', 'layouts', 'parts'],
    namesMax: 92,
  },
  sending: {
    about: 'One email from acceptance to its outcome, with its attachments, over HTTP, SMTP or the Resend API.',
    subjects: ['attachments', 'inbox', 'attempts', 'acceptance', 'messages', 'submission', 'resend', 'system-emails'],
    sharesSql: true,
    namesMax: 48,
  },
  broadcasts: {
    about: 'One email to many: drafts, audience, ledger, sending and results.',
    subjects: ['audience', 'ledger', 'results', 'sending', 'drafts'],
    namesMax: 1,
    filesMax: 21,
    sharesSql: true,
  },
  engagement: {
    about: 'What recipients do: opens, clicks, unsubscriptions, bounces and complaints, and the reports about them.',
    subjects: ['tracking', 'bounces', 'reports'],
    namesMax: 2,
    sharesSql: true,
  },
  operations: {
    about: 'Running the service: status, notices, privacy, documentation, MCP, backup, demo and commands.',
    subjects: ['documentation', 'notices', 'sending-status', 'privacy', 'mcp', 'backup', 'demo', 'commands'],
    filesMax: 1,
  },
}
