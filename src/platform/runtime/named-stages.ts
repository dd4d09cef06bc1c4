import type { StageRegistry } from './stage-registry.ts'

export type NamedStages = ReturnType<typeof createStages>

export type StageOptions = {
  databaseConnections: number
  /** Requests to one endpoint at the same time. */
  webhookConcurrency: number
}

/**
 * The expensive kinds of work. Reads of lists and reports may hold at most half of the database connections, metrics and
 * background work a fifth each, and one organization at most a fifth with each, so that connections remain for everything
 * else.
 */
export function createStages(registry: StageRegistry, { databaseConnections, webhookConcurrency }: StageOptions) {
  const queries = {
    perOrganization: Math.max(1, Math.floor(databaseConnections / 5)),
    overall: Math.max(1, Math.floor(databaseConnections / 2)),
    // Pages of the web app read several lists at the same time, for every member who has one open.
    waitingPerOrganization: 100,
    waitMs: 5_000,
  }
  return {
    /** Searches, lists and reports, which may read many rows. */
    queries: registry.stage('queries', queries),
    /** Metrics of the public API, which programs ask for many flows and days at the same time. */
    metrics: registry.stage('metrics', {
      perOrganization: Math.max(1, Math.floor(databaseConnections / 10)),
      overall: queries.perOrganization,
      waitingPerOrganization: 1_000,
      waitMs: queries.waitMs,
    }),
    /** Counts of audiences while they are composed: one slice of an organization at a time, and few people who wait. */
    audienceCounts: registry.stage('audience counts', {
      perOrganization: 1,
      overall: queries.perOrganization,
      waitingPerOrganization: 5,
      waitMs: 2_000,
    }),
    /** Slices of background work (`BoundedWork`). A job waits for its next slice without holding anything. */
    work: registry.stage('work', {
      perOrganization: 1,
      overall: queries.perOrganization,
      waitingPerOrganization: 1_000,
      waitMs: 60_000,
    }),
    /** Requests with many or large emails while they are read, of which each takes up to seconds in turns. */
    emailRequests: registry.stage('email requests', {
      perOrganization: 2,
      overall: 20,
      waitingPerOrganization: 100,
      waitMs: 30_000,
    }),
    /** Test events: each holds a socket for up to WEBHOOK_TIMEOUT_MS. */
    webhookTests: registry.stage('webhook tests', {
      perOrganization: Math.min(3, webhookConcurrency),
      overall: 30,
      waitingPerOrganization: 5,
      waitMs: 5_000,
    }),
    /** Looking up DNS records, and making DKIM keys. */
    domainChecks: registry.stage('domain checks', {
      perOrganization: 2,
      overall: 10,
      waitingPerOrganization: 10,
      waitMs: 10_000,
    }),
    /** Reports of the providers of mail servers: one has up to 10,000 bounces. */
    providerReports: registry.stage('provider reports', {
      perOrganization: 2,
      overall: 10,
      waitingPerOrganization: 50,
      waitMs: 10_000,
    }),
    /** Testing connections to mail servers: each holds a socket for up to 15 seconds. */
    mailServerTests: registry.stage('mail server tests', {
      perOrganization: 2,
      overall: 20,
      waitingPerOrganization: 4,
      waitMs: 10_000,
    }),
    /** Checks of links: each holds up to 4 sockets for up to 20 seconds. */
    linkChecks: registry.stage('link checks', {
      perOrganization: 1,
      overall: 5,
      waitingPerOrganization: 2,
      waitMs: 20_000,
    }),
  }
}
