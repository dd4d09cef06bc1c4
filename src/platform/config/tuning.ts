import { availableParallelism } from 'node:os'

/** Limits that fit every installation. They are no settings; tests pass their own values. */
export const tuning = {
  /** CPU time for the template of one email, estimated from the work it does. */
  templateCpuMs: 20,
  /** Child processes for CPU-heavy work such as compiling templates. One organization uses at most half of them. */
  taskProcesses: Math.max(2, availableParallelism()),
  /** Open HTTP connections per process. Further ones are closed. */
  httpConnectionsMax: 10_000,
  /** Of one IPv4 address or IPv6 /64. Those of reverse proxies are not limited. */
  httpConnectionsPerNetwork: 200,
  /** Requests of one API key or user that are in progress in a process. 0 means no limit, here and below. */
  requestsInFlightPerCaller: 256,
  /** GET /ready fails if less space is free for the spool or the embedded database. */
  diskFreeMibMin: 256,
  /** Requests of one user to the management API, with bursts of ten times as many. */
  sessionRequestsPerSecond: 100,
  /** Requests of one client address to register, sign in and accept invitations. */
  signInRequestsPerMinute: 60,
  /**
   * Requests of one client address to unsubscribe pages, API reference, web app and images that do not exist, with bursts of
   * ten times as many.
   */
  pageRequestsPerSecond: 50,
  /** How long an unsubscribe page waits for the names it shows. */
  recipientNamesMsMax: 250,
  /** Concurrent requests to one webhook endpoint. */
  webhookConcurrency: 16,
  /** Size of the attachments that are stored for one organization. */
  attachmentMibPerOrganization: 5_000,
  /** Size of the images that are stored for one organization. */
  imageMibPerOrganization: 500,
  /** Streams of the event feed that are open in a process. Each has a connection and a page of events in memory. */
  eventStreams: { perOrganization: 5, overall: 100 },
  /** How often new events are exported. A full file is uploaded at once. */
  eventExportEveryMs: 300_000,
  /** Organizations whose storage takes longer for a file of about 4 MiB use half of the places for uploads together. */
  eventExportSlowMs: 10_000,
  /** The test of a connection to a mail server as a whole. */
  mailServerTestMs: 14_000,
  /** Tests of one organization, with bursts of 20. */
  mailServerTestsPerMinute: 30,
  /** How often a process looks for a public address that another one has stored. */
  addressCheckMs: 10_000,
  /** How often a process looks for older ones after an upgrade (`Formats`). */
  formatCheckMs: 10_000,
}

export type Tuning = typeof tuning
