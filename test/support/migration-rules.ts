import { isConcurrent, type Migration } from '../../src/platform/db/migrate.ts'

// docs/guides/upgrading.md explains the rules.

/** Tables that can have millions of rows: building an index must not block their writers. */
const largeTables = new Set([
  'broadcast_recipients',
  'contact_history',
  'contacts',
  'deliveries',
  'delivery_attempts',
  'event_counters',
  'events',
  'first_occurrences',
  'flow_counters',
  'group_members',
  'idempotency_keys',
  'inbox',
  'jobs',
  'messages',
  'suppressions',
])

const contracting: [pattern: RegExp, problem: string][] = [
  [/\bdrop table\b/, 'drops a table'],
  [
    /\bdrop (column )?(?!constraint|default|not null|expression|identity|index|if\b|table|function)[a-z_]+/,
    'drops a column',
  ],
  [/\bdrop function\b/, 'drops a function'],
  [/\brename (column |constraint |to )/, 'renames something'],
  [/\balter (column )?[a-z_]+ (set data )?type\b/, 'changes the type of a column'],
  [/\bset not null\b/, 'forbids null in a column'],
]

/**
 * Returns what is wrong with a migration that was written after a release: processes of that release keep running while
 * it is applied and afterwards, until they are replaced. A migration whose first line is `-- contract` removes what the
 * previous release no longer uses, and may do so.
 */
export function migrationProblems(migration: Migration): string[] {
  const text = withoutComments(migration.text).toLowerCase()
  const created = new Set([...text.matchAll(/\bcreate table (?:if not exists )?([a-z_]+)/g)].map((match) => match[1]!))
  const isContract = migration.text.startsWith('-- contract\n')
  return [
    ...(isContract ? [] : alterations(text, created)),
    ...(isConcurrent(migration) ? [] : blockingIndexes(text, created)),
  ]
}

/** Statements of the form `alter table …` and `drop …`, except for tables that this migration creates. */
function alterations(text: string, created: Set<string>): string[] {
  return text
    .split(';')
    .filter((statement) => !created.has(/\balter table (?:only )?([a-z_]+)/.exec(statement)?.[1] ?? ''))
    .filter((statement) => /\b(alter|drop)\b/.test(statement))
    .flatMap((statement) => [
      ...contracting.filter(([pattern]) => pattern.test(statement)).map(([, problem]) => problem),
      ...requiredColumns(statement).map((name) => `adds the column ${name}, which is required and has no default`),
    ])
}

function requiredColumns(statement: string): string[] {
  return statement
    .split(/\badd column\b/)
    .slice(1)
    .filter((column) => /\bnot null\b/.test(column) && !/\bdefault\b|\bgenerated\b/.test(column))
    .map(
      (column) =>
        column
          .trim()
          .replace(/^if not exists /, '')
          .split(/\s/)[0]!,
    )
}

function blockingIndexes(text: string, created: Set<string>): string[] {
  return [...text.matchAll(/\bcreate (?:unique )?index (?!concurrently)(?:if not exists )?([a-z0-9_]+) on ([a-z_]+)/g)]
    .filter(([, , table]) => largeTables.has(table!) && !created.has(table!))
    .map(([, index, table]) => `blocks the writers of ${table} while it builds ${index}; use “-- no transaction”`)
}

/** Returns the tables whose rows a migration changes. It may also add columns, which have their defaults in old rows. */
export const changedTables = ({ text }: Pick<Migration, 'text'>): string[] => [
  ...new Set(
    [
      ...withoutComments(text).matchAll(
        /\b(?:update(?!\s+set\b)|insert\s+into|delete\s+from|merge\s+into)\s+(?:only\s+)?([a-z_]+)/gi,
      ),
    ].map((match) => match[1]!.toLowerCase()),
  ),
]

const withoutComments = (text: string) => text.replaceAll(/--.*$/gm, '')
