import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { statementsIn, statementsInText } from './support/source-statements.ts'
import { exceptions, isExcepted } from './support/statement-exceptions.ts'
import { brokenRules, rejectedRules } from './support/statement-rules.ts'

// The statements of the service are checked while the other tests run (test/support/setup-statements.ts).

test.each([
  ['with added as (insert into jobs (organization_id) values ($1)) select 1', ['write in a CTE']],
  [
    'with a as materialized (\n  update jobs set id = $2 where organization_id = $1 returning id) select id from a',
    ['write in a CTE'],
  ],
  ['select ctid from jobs where organization_id = $1', ['ctid']],
  [
    'select 1 from unnest($1::uuid[]) as given (id) left join jobs on jobs.organization_id = $2',
    ['outer join to unnest'],
  ],
  ['select id from jobs where id = $1', ['no organization']],
  ['select organization_id, id from jobs', ['no organization']],
  ['select 1 from jobs join lanes on lanes.lane = jobs.lane where jobs.organization_id = $1', ['no organization']],
  ['select 1 where exists (select from jobs where id = $1)', ['no organization']],
  ['update jobs set id = $1 from unnest($2::uuid[]) as x (o) where organization_id = x.o', ['several organizations']],
  ['delete from jobs using lanes where jobs.organization_id = lanes.organization_id', ['several organizations']],
  ['select id from jobs where organization_id = any ($1::uuid[]) for update skip locked', ['several organizations']],
  [
    'update jobs set due_at = case when attempt > 1 then now() else due_at end where organization_id = $1',
    ['time in case or coalesce'],
  ],
  [
    "update jobs set due_at = case when $2 then due_at + interval '1 day' end where organization_id = $1",
    ['time in case or coalesce'],
  ],
  ['update jobs set due_at = coalesce(due_at, now()) where organization_id = $1', ['time in case or coalesce']],
  ['insert into jobs (organization_id, due_at) values ($1, case when $2 then now() end)', ['time in case or coalesce']],
  [
    'insert into jobs (organization_id) values ($1) on conflict (id) do update set kind = excluded.kind, due_at = now()',
    ['time in on conflict', 'function that is not immutable'],
  ],
  [
    "insert into jobs (organization_id) values ($1) on conflict (id) do update set due_at = excluded.due_at + interval '1 day'",
    ['time in on conflict'],
  ],
  [
    "update jobs set id = $2 where organization_id = $1 and concat_ws(' ', kind, lane) = $3",
    ['function that is not immutable'],
  ],
  ['select id from jobs where organization_id = any ($1::uuid[])', ['several organizations']],
  [
    'select id, (select kind from lanes where lanes.organization_id = jobs.organization_id and lane = $2) from jobs where organization_id = $1',
    ['organization of another query'],
  ],
  [
    'select 1 from jobs where organization_id = $1 and not exists (select from lanes as l where l.organization_id = jobs.organization_id)',
    ['organization of another query'],
  ],
  [
    'select 1 from (select organization_id, id from jobs where organization_id = $1 limit 9) as job left join lanes on lanes.organization_id = job.organization_id',
    ['organization of another query'],
  ],
  [
    "insert into jobs (organization_id, kind) values ($1, case $2::text when 'a' then 'b' end)",
    ['case with an operand'],
  ],
  [
    "delete from jobs where organization_id = $1 and id not in (select id from lanes where organization_id = $1 and case kind when 'a' then true end)",
    ['case with an operand'],
  ],
  [
    "update jobs set kind = $2 where organization_id = $1 returning jsonb_build_object('kind', kind)",
    ['function that is not immutable'],
  ],
  [
    'update jobs set kind = $2 where organization_id = $1 returning due_at > now() as is_late',
    ['function that is not immutable'],
  ],
  [
    "insert into jobs (organization_id) values ($1) on conflict (id) do update set payload = jsonb_build_object('kind', jobs.kind)",
    ['function that is not immutable'],
  ],
  ['select from organizations where id = $1 for no key update', ['lock on every node']],
  ['select email from users where organization_id = $1 and id = $2 for key share', ['lock on every node']],
  [
    'select 1 from jobs join users using (organization_id) where organization_id = $1 for update',
    ['lock on every node'],
  ],
  ['update users set name = $2 where organization_id = $1', ['write to every node']],
  ['insert into api_keys (id, organization_id) values ($1, $2)', ['write to every node']],
] as const)('rejects %s', (statement, rules) => {
  expect(brokenRules(statement)).toEqual(rules)
})

test.each([
  'select id from organizations where id = $1',
  'select id from jobs where organization_id = $1 and id = any ($2::uuid[])',
  'select 1 from jobs as job join lanes on lanes.organization_id = job.organization_id where job.organization_id = $1',
  'select 1 from unnest($1::uuid[]) as given (o) join jobs on jobs.organization_id = given.o left join lanes on lanes.organization_id = jobs.organization_id',
  'select (select kind from lanes where lanes.organization_id = $1 and lane = jobs.lane) from jobs where organization_id = $1',
  'select 1 from unnest($1::uuid[]) as key (organization_id) join jobs on jobs.organization_id = key.organization_id and not exists (select from lanes where lanes.organization_id = jobs.organization_id)',
  'insert into password_reset_requests (id) values ($1)',
  'select 1 from jobs join users using (organization_id) where organization_id = $1 for update of jobs',
  'update jobs set kind = $2 where organization_id = $1 returning coalesce(kind, lane), array_remove(array[lane], null)',
  "select case kind when 'a' then 1 end from jobs where organization_id = $1",
  'select 1 from jobs join lanes using (organization_id, kind) where organization_id = $1',
  'insert into jobs (organization_id, id) select o, i from unnest($1::uuid[], $2::uuid[]) as x (o, i) on conflict do nothing',
  "update jobs set payload = 'delete from lanes' where organization_id = $1 and id = $2",
  'select id from jobs where organization_id = $1 order by id for no key update',
  'select 1 from jobs where organization_id = $1 -- not ctid',
  'update jobs set due_at = now(), kind = case when attempt > 1 then $2 else kind end where organization_id = $1',
  'insert into jobs (organization_id, due_at) values ($1, now()) on conflict (id) do update set due_at = excluded.due_at',
  'insert into jobs (organization_id, due_at) select o, case when $2 then now() end from unnest($1::uuid[]) as x (o)',
])('accepts %s', (statement) => {
  expect(brokenRules(statement)).toEqual([])
})

test('finds statements with the fragments that they are made of', () => {
  const texts = statementsInText(`
    const place = sql\`lane, \${at}\`
    const isOwn = (id) => sql\`organization_id = \${id}\`
    export const change = (tx, id, isLate) => tx\`
      update jobs set kind = \${kind} where \${isOwn(id)} \${isLate ? sql\`and due_at < now()\` : sql\`\`} returning \${place}\`
    const add = (tx) => tx.send\`insert into jobs (id) \${insertRows(tx, { id: ['uuid', ids] }, \`id, case a when 1 then 2 end\`)}\`
    log\`nothing\``)
  expect(texts.map(({ text }) => text.replaceAll(/\s+/g, ' ').trim())).toEqual([
    'update jobs set kind = $1 where organization_id = $1 and due_at < now() returning lane, $1',
    'insert into jobs (id) id, case a when 1 then 2 end',
  ])
})

test('no node rejects a statement, also of those that no test runs', () => {
  const statements = statementsIn('src')
  expect(statements.length).toBeGreaterThan(700)
  const broken = statements.flatMap(({ file, text }) =>
    brokenRules(text)
      .filter((rule) => rejectedRules.includes(rule) && !isExcepted(file, text, rule))
      .map((rule) => `${file}: ${rule}: ${text.replaceAll(/\s+/g, ' ').trim()}`),
  )
  expect(broken).toEqual([])
})

test('the statements of the exceptions still exist', () => {
  const gone = exceptions.filter(({ file, contains }) => !readFileSync(join('src', file), 'utf8').includes(contains))
  expect(gone).toEqual([])
})
