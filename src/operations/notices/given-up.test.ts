import { pino } from 'pino'
import { expect, test } from 'vitest'
import { registerOther } from '../../../test/support/people.ts'
import { read } from '../../../test/support/resources.ts'
import { startTestApp } from '../../../test/support/test-app.ts'
import { type OrganizationId, parseId } from '../../platform/values/ids.ts'
import { GivenUpNotices } from './given-up.ts'

test('what was given up is reported once a day, however many jobs and processes there are, and open for a day', async () => {
  await using app = await startTestApp({}, ['serve'])
  const other = await registerOther(app)
  const organizationId = parseId('org', other.organizationId) as OrganizationId
  const report = () => {
    const processes = [1, 2, 3].map(() => new GivenUpNotices({ db: app.db, log: pino({ level: 'silent' }) }))
    return Promise.all(
      processes.flatMap((notices) => [
        ...[1, 2, 3].map(() => notices.emails(organizationId)),
        ...[notices.deliveries(organizationId), notices.systemEmails()],
      ]),
    )
  }
  const kindsOf = async (person: Pick<typeof other, 'manage'>, state = '') =>
    (await read(person, `/notices${state}`)).map(({ kind }: { kind: string }) => kind).sort()

  await report()
  expect(await kindsOf(other, '?state=open')).toEqual(['deliveries_given_up', 'emails_given_up'])
  expect(await kindsOf(app, '?state=open')).toEqual(['system_emails_given_up'])

  await app.db.statement`update notices set created_at = now() - interval '25 hours'`
  expect(await kindsOf(other, '?state=open')).toEqual([])
  await report()
  expect(await kindsOf(other, '?state=open')).toEqual(['deliveries_given_up', 'emails_given_up'])
  expect(await kindsOf(other)).toHaveLength(4)
})
