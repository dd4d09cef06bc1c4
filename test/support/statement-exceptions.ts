import type { Rule } from './statement-rules.ts'

export type Exception = {
  /** Below `src/`. */
  file: string
  /** Part of the statement, as it is written in the file. */
  contains: string
  rules: Rule[]
  reason: string
}

const dueRows = 'Looks for due rows of all organizations, and is not part of a request.'
const expiredRows = 'Deletes expired rows of all organizations, and is not part of a request.'
const operatorCommand = 'A command of the operator over all organizations.'
const accountChange = 'Changes accounts, which waits until all nodes are up (docs/guides/scaling.md).'
const domainChange = 'Only when the state or a host of a domain changes, which waits until all nodes are up.'
const nodeOfSeveral = 'Asked for the organizations of one node at a time while another node is down.'
const hotPath = 'A batch of several organizations; docs/decisions/hot-paths.md says why it is one statement.'

/** Statements that break a rule on purpose. The shorter this list, the fewer statements ask several servers. */
export const exceptions: Exception[] = [
  // The queue.
  ...(
    [
      [
        'platform/queue/lanes.sql.ts',
        'with due as materialized (',
        ['no organization', 'several organizations'],
        dueRows,
      ],
      ['platform/queue/lanes.sql.ts', 'order by min(next_due_at)', ['no organization'], dueRows],
      ['platform/queue/lanes.sql.ts', 'group by kind', ['no organization'], dueRows],
      ['platform/queue/queue.ts', 'returning id, ctid, due_at', ['ctid'], hotPath],
      [
        'platform/queue/queue.ts',
        "set leased_until = '-infinity'",
        ['no organization', 'several organizations'],
        operatorCommand,
      ],
      ['platform/queue/lanes.sql.ts', 'set leased_until = now()', ['several organizations'], hotPath],
      ['platform/queue/lanes.sql.ts', 'jobs.ctid', ['ctid'], hotPath],
      ['platform/queue/lanes.sql.ts', 'for update of lanes', ['several organizations'], hotPath],
      ['platform/queue/lanes.sql.ts', 'set token = null', ['several organizations'], hotPath],
      ['platform/queue/lanes.sql.ts', 'delete from lanes', ['several organizations'], hotPath],
      ['platform/queue/settle-jobs.ts', 'delete from jobs', ['ctid', 'several organizations'], hotPath],
      ['platform/queue/settle-jobs.ts', 'jobs.faults, jobs.ctid', ['ctid'], hotPath],
      ['platform/queue/settle-jobs.ts', 'update jobs', ['ctid', 'several organizations'], hotPath],
      [
        'platform/queue/backlog.sql.ts',
        'with waiting as materialized (',
        ['no organization', 'organization of another query'],
        'Counts for /metrics.',
      ],
      ['platform/queue/lanes.sql.ts', 'and organization_id = any (', ['several organizations'], nodeOfSeveral],
      ['events/webhooks/fan-out.ts', 'where organization_id = any (', ['several organizations'], hotPath],
      // Accounts, of which every node has a copy.
      ['accounts/people/accounts.sql.ts', 'insert into organizations', ['write to every node'], accountChange],
      ['accounts/people/accounts.sql.ts', 'insert into users', ['write to every node'], accountChange],
      ['accounts/people/accounts.sql.ts', 'update organizations', ['write to every node'], accountChange],
      ['accounts/people/accounts.sql.ts', 'set name = case', ['write to every node'], accountChange],
      ['accounts/people/team.sql.ts', 'update users', ['write to every node'], accountChange],
      ['accounts/people/team.sql.ts', 'delete from users', ['write to every node'], accountChange],
      ['accounts/people/credentials.sql.ts', 'update users', ['write to every node'], accountChange],
      ['accounts/people/email-changes.sql.ts', 'update users', ['write to every node'], accountChange],
      ['accounts/people/api-keys.sql.ts', 'insert into api_keys', ['write to every node'], accountChange],
      ['accounts/people/api-keys.sql.ts', 'set revoked_at', ['write to every node'], accountChange],
      [
        'accounts/people/api-keys.sql.ts',
        'set last_used_at',
        ['write to every node'],
        'At most once a minute, and no request waits for it. The time is recorded when all nodes are up again.',
      ],
      ['accounts/people/confirm-import.sql.ts', 'update organizations', ['write to every node'], operatorCommand],
      ['accounts/people/confirm-import.sql.ts', 'update api_keys', ['write to every node'], operatorCommand],
      ['operations/privacy/delete-organization.sql.ts', 'set deleted_at', ['write to every node'], accountChange],
      ['operations/privacy/delete-organization.sql.ts', 'delete from api_keys', ['write to every node'], accountChange],
      ['operations/privacy/delete-organization.sql.ts', 'delete from users', ['write to every node'], accountChange],
      ['operations/privacy/delete-organization.sql.ts', 'set is_operator', ['write to every node'], accountChange],
      [
        'operations/privacy/erase-organization.sql.ts',
        'delete from organizations',
        ['write to every node'],
        accountChange,
      ],
      ['delivery/domains/domains.sql.ts', 'insert into verified_domains', ['write to every node'], domainChange],
      ['accounts/people/default-sender.sql.ts', 'update organizations', ['write to every node'], domainChange],
      ['delivery/domains/domains.sql.ts', 'delete from verified_domains', ['write to every node'], domainChange],
      ['delivery/domains/domains.sql.ts', 'insert into tracking_hosts', ['write to every node'], domainChange],
      ['delivery/domains/domains.sql.ts', 'delete from tracking_hosts', ['write to every node'], domainChange],
      [
        'platform/db/cluster/lock-organization.ts',
        'for no key update',
        ['lock on every node'],
        'Not on a distributed database.',
      ],
      // Sending and delivering.
      ['sending/attempts/send.sql.ts', 'update messages', ['several organizations'], hotPath],
      ['delivery/limits/sending-limits.sql.ts', 'for no key update of uses', ['several organizations'], hotPath],
      ['delivery/limits/sending-limits.sql.ts', 'set day = change.day', ['several organizations'], hotPath],
      [
        'delivery/limits/sending-limits.sql.ts',
        'delete from sending_limit_uses',
        ['no organization', 'several organizations'],
        expiredRows,
      ],
      ['events/webhooks/deliver.sql.ts', 'update deliveries', ['several organizations'], hotPath],
      ['events/webhooks/deliver.sql.ts', 'update webhooks', ['several organizations'], hotPath],
      [
        'events/webhooks/deliver.sql.ts',
        'update delivery_attempts',
        ['several organizations'],
        'Only after an erasure during an attempt.',
      ],
      ['events/webhooks/deliveries.sql.ts', ') as gone (organization_id, id)', ['several organizations'], hotPath],
      [
        'engagement/tracking/tracking.sql.ts',
        'from organizations',
        ['organization of another query'],
        'The report of a provider about messages of any organization, which the provider repeats while a node is down.',
      ],
      // Maintenance.
      ['operations/notices/watch.sql.ts', 'cross join lateral (', ['organization of another query'], dueRows],
      [
        'events/recording/rebuild.sql.ts',
        'insert into expected_firsts',
        ['organization of another query'],
        operatorCommand,
      ],
      [
        'events/recording/rebuild.sql.ts',
        'insert into expected_outcomes',
        ['organization of another query'],
        operatorCommand,
      ],
      ['content/files/files.sql.ts', 'where hash is null and not in_bucket and', ['no organization'], dueRows],
      ['content/files/files.sql.ts', 'where hash is null and in_bucket and', ['no organization'], dueRows],
      [
        'content/images/images.sql.ts',
        'select from stored_files files',
        ['no organization', 'organization of another query'],
        dueRows,
      ],
      ['sending/attachments/contents.sql.ts', 'where files_until <= now() order by', ['no organization'], dueRows],
      [
        'sending/system-emails/old-emails.sql.ts',
        'select organization_id from account_mails',
        ['no organization', 'several organizations'],
        dueRows,
      ],
      [
        'operations/privacy/erase-organization.sql.ts',
        'with deleted as (',
        ['ctid', 'write in a CTE'],
        'Erases one organization in batches, from tables that have different keys.',
      ],
      [
        'accounts/people/credentials.sql.ts',
        'where expires_at <= now()',
        ['no organization', 'several organizations'],
        expiredRows,
      ],
      [
        'sending/acceptance/accept.sql.ts',
        'delete from idempotency_keys',
        ['no organization', 'several organizations', 'organization of another query'],
        expiredRows,
      ],
      [
        'accounts/api-requests/api-requests.sql.ts',
        'where at < now()',
        ['no organization', 'several organizations', 'organization of another query'],
        expiredRows,
      ],
      ['audience/imports/import-changes.sql.ts', 'where is_undoable', ['no organization'], expiredRows],
      [
        'sending/inbox/inbox.sql.ts',
        'delete from inbox',
        ['no organization', 'several organizations', 'organization of another query'],
        expiredRows,
      ],
      ['delivery/domains/domains.sql.ts', 'order by turn, next_check_at', ['no organization'], dueRows],
      ['delivery/mail-servers/runtime.sql.ts', 'order by failing_since', ['no organization'], operatorCommand],
      ['delivery/mail-servers/runtime.sql.ts', 'order by next_try_at', ['no organization'], dueRows],
      [
        'delivery/mail-servers/runtime.sql.ts',
        'select from mail_servers limit 1',
        ['no organization'],
        'Asked while SMTP_URL is down, at most every ten seconds.',
      ],
      ['events/webhooks/health.sql.ts', 'order by failing_since', ['no organization'], dueRows],
      ['events/webhooks/health.sql.ts', "set status = 'paused'", ['no organization', 'several organizations'], dueRows],
      [
        'events/webhooks/deliveries.sql.ts',
        'returning 1',
        ['ctid', 'write in a CTE', 'no organization', 'several organizations', 'organization of another query'],
        expiredRows,
      ],
      [
        'platform/db/sealed.ts',
        'select organization_id, id, array[',
        ['no organization'],
        'Checks all encrypted values.',
      ],
      [
        'events/recording/partitions.sql.ts',
        'delete from events_default',
        ['no organization', 'several organizations'],
        expiredRows,
      ],
      [
        'events/recording/pending-counts.sql.ts',
        'delete from pending_counts',
        ['ctid', 'no organization', 'several organizations'],
        hotPath,
      ],
      [
        'events/recording/pending-counts.sql.ts',
        'select organization_id, counts from pending_counts',
        ['no organization'],
        operatorCommand,
      ],
      ['events/recording/rebuild.sql.ts', 'with changes as (', ['no organization'], operatorCommand],
      ['events/recording/rebuild-flows.sql.ts', 'insert into flow_changes', ['no organization'], operatorCommand],
      ['events/recording/rebuild-flows.sql.ts', 'insert into stored_flow_values', ['no organization'], operatorCommand],
      [
        'sending/messages/discard-queued.sql.ts',
        'with failed as (',
        ['write in a CTE', 'several organizations', 'organization of another query'],
        operatorCommand,
      ],
      [
        'events/webhooks/discard-queued.sql.ts',
        'with failed as (',
        ['write in a CTE', 'several organizations'],
        operatorCommand,
      ],
      // One organization.
      [
        'events/webhooks/webhooks.sql.ts',
        'left join lateral (',
        ['outer join to unnest'],
        'The last deliveries of each listed webhook, of one organization.',
      ],
    ] satisfies [string, string, Rule[], string][]
  ).map(([file, contains, rules, reason]) => ({ file, contains, rules, reason })),
]

export const isExcepted = (file: string, text: string, rule: Rule): boolean =>
  exceptions.some(
    (exception) =>
      `src/${exception.file}` === file && text.includes(exception.contains) && exception.rules.includes(rule),
  )
