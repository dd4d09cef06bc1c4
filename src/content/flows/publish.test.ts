import { afterAll, expect, test } from 'vitest'
import { createFlow } from '../../../test/support/flows.ts'
import { startTestApp } from '../../../test/support/test-app.ts'
import { TaskPool } from '../../platform/tasks/pool.ts'
import { systemActor } from '../../platform/values/actor.ts'
import { Refusal } from '../../platform/values/errors.ts'
import { parseId } from '../../platform/values/ids.ts'
import { contentOf, type FlowState } from './flow-state.ts'
import { publish } from './publish.ts'
import { TemplateRunner } from './template-runner.ts'

const tasks = new TaskPool({ processes: 1 })
afterAll(() => tasks.stop())

test('a dry run returns what would change, or the refusal, and writes nothing', async () => {
  await using app = await startTestApp({}, ['serve'])
  const flowId = await createFlow(app)
  const read = async () => (await app.manage('GET', `/organization/flows/${flowId}`)).body.data
  const before = await read()
  const runner = new TemplateRunner({ tasks, cpuMs: 20 })
  const parts = { db: app.db, runner, senders: { check: async () => {} } }
  const asked: object[] = []
  const target = {
    organizationId: parseId('org', app.organizationId)!,
    id: parseId('flw', flowId)!,
    checkScheduled: async (changed: object) => {
      asked.push(changed)
    },
  }
  const dryRun = (subject?: string) => {
    const plan = ({ version }: FlowState) => ({
      name: 'Renamed',
      content: { ...contentOf(version!), ...(subject && { subject }) },
    })
    return publish(parts, target, plan, systemActor, { dryRun: true })
  }

  expect(await dryRun('Soon')).toMatchObject({ name: 'Renamed', status: 'active', version: { subject: 'Soon' } })
  expect(await dryRun()).toMatchObject({ name: 'Renamed', version: undefined })
  await expect(dryRun('{% if %}')).rejects.toThrow(Refusal)
  expect(asked).toEqual([{ flowId: target.id }, { flowId: target.id }, { flowId: target.id }])
  expect(await read()).toEqual(before)
})
