import { expect, test } from 'vitest'
import { until } from '../../test/support/until.ts'
import { UrgentWork } from './urgent-work.ts'

function recordedHolds() {
  const holds: boolean[] = []
  return { holds, urgentWork: new UrgentWork((isHeld) => holds.push(isHeld)) }
}

/** Work that lasts until `end` is called. */
function openWork(urgentWork: UrgentWork) {
  let end = () => {}
  const work = new Promise<void>((resolve) => {
    end = resolve
  })
  return { end, done: urgentWork.run(() => work) }
}

test('other work is held back until the last urgent work is done, even if it fails', async () => {
  const { holds, urgentWork } = recordedHolds()
  const first = openWork(urgentWork)
  expect(holds.slice(0, 1)).toEqual([true])
  const second = urgentWork.run(async () => {
    throw new Error('refused')
  })
  await expect(second).rejects.toThrow('refused')
  first.end()
  await first.done
  await until('the release', () => holds.at(-1) === false)
  expect(await urgentWork.run(async () => 'sent')).toBe('sent')
  await until('the release', () => holds.at(-1) === false)
})

test('urgent work that follows immediately extends the hold', async () => {
  const { holds, urgentWork } = recordedHolds()
  await urgentWork.run(async () => 'accepted')
  await urgentWork.run(async () => 'sent')
  expect(holds).toEqual([true])
  await until('the release', () => holds.length === 2)
  expect(holds).toEqual([true, false])
})

test('other work can wait until urgent work is done', async () => {
  const { holds, urgentWork } = recordedHolds()
  expect(urgentWork.clear()).toBeUndefined()
  const work = openWork(urgentWork)
  const waiting = [urgentWork.clear(), urgentWork.clear()]
  expect(waiting).toEqual([expect.any(Promise), expect.any(Promise)])
  work.end()
  await Promise.all([work.done, ...waiting])
  expect(holds.at(-1)).toBe(false)
  expect(urgentWork.clear()).toBeUndefined()
})

test('while there is always urgent work, other work continues from time to time', async () => {
  const { holds, urgentWork } = recordedHolds()
  const endless = openWork(urgentWork)
  await until('two holds', () => holds.length >= 4 && holds)
  expect(holds.slice(0, 4)).toEqual([true, false, true, false])
  endless.end()
  await endless.done
  await until('the release', () => holds.at(-1) === false)
})

test('more urgent work is expected for a while after it', async () => {
  const { urgentWork } = recordedHolds()
  expect(urgentWork.isExpected).toBe(false)
  await urgentWork.run(async () => 'sent')
  expect(urgentWork.isExpected).toBe(true)
  await until('no urgent work to be expected', () => !urgentWork.isExpected)
})
