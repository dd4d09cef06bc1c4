import { expect, test } from 'vitest'
import { type Accounts, describeAccounts, takeAccounts } from './support/fault-accounts.ts'
import { startFaultWorld } from './support/fault-world.ts'
import { faults } from './support/faults.ts'
import { useSite } from './support/own-database.ts'
import { announcedSeed, askedMinutes } from './support/seeded.ts'
import { longTestMsMax } from './support/time-limits.ts'
import { until } from './support/until.ts'

/** `npm run test:faults -- --minutes 10 --seed 7` for a long run. */
const faultsInShortForm = 7
/** In a long run, emails may wait five minutes for a relay that no longer replies to them. */
const settleMsMax = askedMinutes ? 420_000 : 180_000

const site = useSite()

test('no accepted message or event is lost under any fault', {
  timeout: longTestMsMax.attacks(askedMinutes),
}, async () => {
  const random = announcedSeed('faults')
  await using world = await startFaultWorld(site(), random.fork())
  const deadline = performance.now() + (askedMinutes ?? 0) * 60_000
  const order = random.fork()
  const counts = new Map<string, number>()
  for (let done = 0; askedMinutes ? performance.now() < deadline : done < faultsInShortForm; done++) {
    // The short run injects each fault once, in an order that depends on the seed.
    const fault = askedMinutes ? order.pick(faults) : faults[(done + random.seed) % faults.length]!
    counts.set(fault.name, (counts.get(fault.name) ?? 0) + 1)
    await world.moreWork()
    await fault.happen(world, order)
  }
  await world.heal()
  await world.stopLoad()

  let accounts: Accounts | undefined
  await until(
    'the accounts to close',
    async () => {
      accounts = await takeAccounts(world).catch(() => accounts)
      return accounts?.losses.length === 0
    },
    settleMsMax,
  ).catch(() => {})
  console.info([...counts].map(([name, count]) => `${count} × ${name}`).join(', '))
  console.info(describeAccounts(accounts!))
  expect(accounts!.losses).toEqual([])
})
