import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isCompletedOnShards } from '../../src/platform/db/cluster/shards.ts'

// The rules that keep statements simple enough for a server that distributes tables by organization. They are checked
// for every statement that the service starts while the tests run.

/** Queried without knowing the organization. All other tables are tenant tables. */
export const globalTables = [
  'organizations',
  'users',
  'api_keys',
  'verified_domains',
  'receiving_domains',
  'tracking_hosts',
  'schema_migrations',
  'event_feed',
  'events_kept',
  'secret_mark',
  'sending_pause',
  'installation_settings',
  'last_backup',
  'provider_signatures',
  'password_reset_requests',
  'operator_copies',
]

export type Rule =
  | 'write in a CTE'
  | 'ctid'
  | 'outer join to unnest'
  | 'no organization'
  | 'several organizations'
  | 'organization of another query'
  | 'write to every node'
  | 'time in case or coalesce'
  | 'time in on conflict'
  | 'function that is not immutable'
  | 'case with an operand'
  | 'lock on every node'

/** What every node rejects or, for a lock, what fails for everybody while any node is down. */
export const rejectedRules: readonly Rule[] = [
  'time in case or coalesce',
  'time in on conflict',
  'function that is not immutable',
  'case with an operand',
  'lock on every node',
]

/** Global tables of which every node has a copy, so that a write fails while any node is down. */
export const copiedTables = ['organizations', 'users', 'api_keys', 'verified_domains', 'tracking_hosts']

const migrations = 'src/platform/db/migrations'
const tenantTables = new Set(
  readdirSync(migrations)
    .flatMap((file) => [
      ...readFileSync(join(migrations, file), 'utf8').matchAll(/^create table (?:if not exists )?([a-z_]+)/gm),
    ])
    .map((match) => match[1]!)
    .filter((name) => !globalTables.includes(name)),
)

/** Returns the rules that a statement breaks. */
export function brokenRules(statement: string): Rule[] {
  const text = simplified(statement)
  const broken = new Set<Rule>()
  if (/\bctid\b/.test(text)) broken.add('ctid')
  if (/\bas (?:not )?(?:materialized )?\( ?(?:insert|update|delete) /.test(text)) broken.add('write in a CTE')
  if (isAnyWrite.test(text) && /\bcase (?!when\b)/.test(text)) broken.add('case with an operand')
  const isCompleted = isCompletedOnShards(text)
  for (const block of blocksOf(text)) {
    if (outerJoinToUnnest.test(block)) broken.add('outer join to unnest')
    const tables = tenantTablesOf(block)
    if (tables.some((table) => !namesOrganization(block, table, tables.length))) broken.add('no organization')
    const isChange =
      /^(?:with .*\) )?(?:update|delete from) /.test(block) || /\bfor (?:no key )?(?:update|share)\b/.test(block)
    if (isWrite.test(block) && tables.length > 0 && timeInCondition.test(block)) broken.add('time in case or coalesce')
    if (tables.length > 0 && timeInConflict.test(block)) broken.add('time in on conflict')
    const isOnNodes = tables.length > 0 || writeToCopies.test(block)
    if (isChange && tables.length > 0 && /\bconcat_ws ?\(/.test(block)) broken.add('function that is not immutable')
    if (isOnNodes && callsIn(clausesOnNodes(block)).some((name) => !immutable.has(name)))
      broken.add('function that is not immutable')
    if (lockOnCopies.test(block)) broken.add('lock on every node')
    if (isChange && tables.length > 0 && !/\borganization_id = \$\d+/.test(block)) broken.add('several organizations')
    if (tables.length > 0 && severalOrganizations.test(block)) broken.add('several organizations')
    if (tables.length > 0 && !isCompleted && namesOrganizationOfOuter(block))
      broken.add('organization of another query')
    if (writeToCopies.test(block)) broken.add('write to every node')
  }
  return [...broken]
}

/** An outer join directly to the rows of `unnest`: the whole table would be fetched from all servers. */
const outerJoinToUnnest =
  /\bunnest ?\([^()]*\)(?: as)?(?: \w+)?(?: \([^()]*\))? (?:left|right|full) |\b(?:left|right|full) (?:outer )?join (?:lateral )?unnest\b/

/** Writes whose expressions are evaluated before they are sent to a node; `insert … select` is not one of them. */
const isWrite = /^(?:with .*\) )?(?:update |insert into \w+ (?:\([^()]*\) )?values\b)/
/** Adding an interval to a time depends on the time zone, so it counts as well. */
const timeInCondition = /\bcase\b(?:(?!\bend\b).)*(?:\bnow\(\)|\binterval\b)|\bcoalesce ?\([^()]*\bnow\(\)/
/**
 * Not evaluated before it is sent, and so rejected. `excluded` has the time of the inserted row. Adding an interval to a time
 * depends on the time zone.
 */
const timeInConflict = /\bon conflict\b.* do update set .*(?:\bnow\(\)|[-+] (?:\$\d+ \* )?interval\b)/

/**
 * One of the organizations may be on a node that is down, and then nobody gets a result. What `onShards` adds is not counted: it
 * repeats the organizations of the rows.
 */
const severalOrganizations =
  /(?<!\borganization_id = \w+\.organization_id and (?:\w+\.)?)\borganization_id (?:= any|in) ?\(/

/** Rows can be locked while a node is down: on the coordinator, which has a copy as well. */
const writeToCopies = new RegExp(`\\b(?:insert into|update|delete from) (?:${copiedTables.join('|')})\\b`)

/**
 * A subquery that is correlated on the organization is sent to all nodes, because the coordinator does not know its value.
 * The statements about the rows of an array are completed when they are run (src/platform/db/cluster/shards.ts).
 */
function namesOrganizationOfOuter(block: string): boolean {
  if (/\borganization_id = \$\d+/.test(block)) return false
  const names = [...block.matchAll(/\borganization_id = ([a-z_]+)\.(?:organization_id|id)\b/g)].map(
    (match) => match[1]!,
  )
  const isOuter = (name: string) => !new RegExp(`\\b${name}\\b(?! ?\\.)`).test(block)
  // PostgreSQL does not see which organization the rows of a query in `from` have, unless it is simple.
  const isQuery = (name: string) => new RegExp(`\\(…\\) (?:as )?${name}\\b`).test(block)
  return names.some((name) => isOuter(name) || isQuery(name))
}

/** Citus replaces the comparison of `case status when 'sent' …` by one that lacks the operand. */
const isAnyWrite = /^(?:with .*\) )?(?:insert|update|delete) /

/** What is evaluated on the nodes after the write, where only functions are allowed that are immutable. */
const clausesOnNodes = (block: string): string =>
  [/\bdo update set .*?(?=\breturning\b|$)/, /\breturning .*/].map((clause) => clause.exec(block)?.[0] ?? '').join(' ')

const callsIn = (text: string): string[] => [...text.matchAll(/\b([a-z_][a-z0-9_]*) ?\(/g)].map((match) => match[1]!)

const immutable = new Set(
  'abs all and any array array_cat array_remove as by cardinality coalesce conflict exists greatest in least lower not nullif or select then unnest when where'.split(
    ' ',
  ),
)

/** Every node has a copy, and the lock is taken on the first of them. */
const lockOnCopies = new RegExp(
  `\\b(?:from|join) (?:${copiedTables.join('|')})\\b.* for (?:no key update|key share|update|share)(?! of (?!(?:${copiedTables.join('|')})\\b))`,
)

/** In lower case, without comments and literals, with single spaces. */
const simplified = (statement: string) =>
  statement
    .replaceAll(/--.*$/gm, ' ')
    .replaceAll(/'(?:[^']|'')*'/g, "''")
    .replaceAll(/\s+/g, ' ')
    .trim()
    .toLowerCase()

/** Splits a statement into its queries: each subquery and CTE is a block of its own, replaced by `(…)` in the outer one. */
function blocksOf(text: string): string[] {
  const blocks: string[] = []
  const outer = withoutQueries(text, blocks)
  return [...outer.split(/ (?:union(?: all)?|intersect|except) /), ...blocks]
}

function withoutQueries(text: string, blocks: string[]): string {
  let result = ''
  for (let at = 0; at < text.length; at++) {
    if (text[at] !== '(') {
      result += text[at]
      continue
    }
    const end = closingOf(text, at)
    const inner = text.slice(at + 1, end)
    if (/^ ?(?:select|insert|update|delete|with|values)\b/.test(inner)) {
      blocks.push(...blocksOf(inner.trim()))
      result += '(…)'
    } else result += `(${withoutQueries(inner, blocks)})`
    at = end
  }
  return result
}

function closingOf(text: string, opening: number): number {
  let depth = 0
  for (let at = opening; at < text.length; at++) {
    if (text[at] === '(') depth++
    if (text[at] === ')' && --depth === 0) return at
  }
  return text.length
}

type TableUse = { table: string; alias: string }

const notAliases =
  'from|where|on|and|or|join|left|right|full|inner|cross|set|using|order|group|limit|for|returning|values|select|union|as|natural|having|window|offset|default|overriding'

/** Returns the tenant tables that a block reads or writes. The name of a CTE hides a table of the same name. */
function tenantTablesOf(block: string): TableUse[] {
  const uses = new RegExp(
    `(?:\\b(?:from|join|update|into|using)|,) (?:only )?([a-z_]+)\\b(?![.(])(?= (?:as )?(?!(?:${notAliases})\\b)([a-z_]+)|)`,
    'g',
  )
  return [...block.matchAll(uses)]
    .map(([, table, alias]) => ({ table: table!, alias: alias ?? table! }))
    .filter(({ table }) => tenantTables.has(table))
}

/** Returns true if the organization of the rows is compared, joined or written. */
function namesOrganization(block: string, { alias }: TableUse, tables: number): boolean {
  if (/\busing \([^)]*\borganization_id\b/.test(block)) return true
  if (/^(?:with .*\) )?insert into \w+(?: as \w+)? \([^)]*\borganization_id\b/.test(block)) return true
  const compared = (column: string) =>
    new RegExp(
      `${column}(?:,[^()]*\\))? ?(?:=|in\\b|<|>)|= ?(?:any ?\\()?${column}\\b|\\([^()]*${column}[^()]*\\) ?(?:=|in\\b|<|>)`,
    ).test(block)
  return compared(`\\b${alias}\\.organization_id`) || (tables === 1 && compared('(?<!\\.)\\borganization_id'))
}
