import type { Db } from '../../src/platform/db/db.ts'

/**
 * Makes every statement that reads or writes rows of this organization in the tables fail like one on a distributed database
 * whose node is down. Only for a database that is not distributed. Returns a function that ends this.
 */
export async function takeDown(
  db: Db,
  organizationId: string,
  tables: readonly string[],
): Promise<() => Promise<void>> {
  const check = (failure: string) => `
    create or replace function node_is_up(id uuid) returns boolean language plpgsql cost 100000 as $$
    begin ${failure} return true; end $$;`
  const views = tables.map(
    (name) => `
    alter table ${name} rename to stored_${name};
    create view ${name} as select * from stored_${name} where node_is_up(organization_id) with check option;`,
  )
  const raise = `if id = '${organizationId}' then
    raise exception 'connection to the remote node failed' using errcode = '08006'; end if;`
  await db.statement.script([check(raise), ...views].join('\n'))
  return () => db.statement.script(check(''))
}
