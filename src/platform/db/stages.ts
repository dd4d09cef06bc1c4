import type { StageRegistry } from '../runtime/stage-registry.ts'

/**
 * The stages of the database. Reads of lists and reports may hold at most half of the database connections, metrics and
 * background work a fifth each, and one organization at most a fifth with each, so that connections remain for everything
 * else.
 */
export function createDatabaseStages(registry: StageRegistry, databaseConnections: number) {
  const queries = {
    perOrganization: Math.max(1, Math.floor(databaseConnections / 5)),
    overall: Math.max(1, Math.floor(databaseConnections / 2)),
    // Pages of the web app read several lists at the same time, for every member who has one open.
    waitingPerOrganization: 100,
    waitMs: 5_000,
  }
  return {
    /** Searches, lists and reports, which may read many rows. */
    queries: registry.stage('queries', 'service', queries),
    /** Metrics of the public API, which programs ask for many flows and days at the same time. */
    metrics: registry.stage('metrics', 'service', {
      perOrganization: Math.max(1, Math.floor(databaseConnections / 10)),
      overall: queries.perOrganization,
      waitingPerOrganization: 1_000,
      waitMs: queries.waitMs,
    }),
    /** Counts of audiences while they are composed: one slice of an organization at a time, and few people who wait. */
    audienceCounts: registry.stage('audience counts', 'service', {
      perOrganization: 1,
      overall: queries.perOrganization,
      waitingPerOrganization: 5,
      waitMs: 2_000,
    }),
    /** Slices of background work (`BoundedWork`). A job waits for its next slice without holding anything. */
    work: registry.stage('work', 'service', {
      perOrganization: 1,
      overall: queries.perOrganization,
      waitingPerOrganization: 1_000,
      waitMs: 60_000,
    }),
  }
}
