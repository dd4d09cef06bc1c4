/** The limits of tests, in one place. On an idle machine most tests take less than a second; a busy one may be 20 times as slow. */
export const testMsMax = 60_000

/** How long a test waits for one condition. Less than `testMsMax`, so that a failure names the condition. */
export const waitMsMax = 50_000

/** Tests that take longer than 12 seconds on an idle machine. */
export const longTestMsMax = {
  /** Journeys through a dozen pages, or a check of every page. */
  manyPages: 300_000,
  /** Starts commands of the compiled service, whole databases or several services, one after the other. */
  processes: 300_000,
  /** Waits several times for an interval or a time limit of the service that cannot be shortened. */
  intervals: 180_000,
  /** Kills and restarts processes under load. Long runs have further kills. */
  kills: (count: number) => 600_000 + count * 30_000,
  /** Attacks or faults, for the minutes that were asked for. */
  attacks: (minutes = 5) => 600_000 + minutes * 60_000,
  /** Installs the package. Downloads what the cache of npm does not have. */
  installation: 900_000,
  /** Learns from a part of the samples and classifies the others. */
  evaluation: 120_000,
}
