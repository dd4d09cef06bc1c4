import { type Accounts, prepareResetEmails } from '../accounts/accounts.ts'
import { BuiltInFlows, type ContentBase } from '../content/content.ts'
import { type Delivery, inFlightMaxOf } from '../delivery/delivery.ts'
import { type Area, loopsOf } from '../platform/area.ts'
import type { Config } from '../platform/config/config.ts'
import type { Db } from '../platform/db/db.ts'
import type { Platform } from '../platform/platform.ts'
import { measureBacklog } from '../platform/queue/backlog-metrics.ts'
import { Worker } from '../platform/queue/worker.ts'
import type { WorkerSpec } from '../platform/queue/worker-spec.ts'
import type { StageLimits } from '../platform/runtime/stage.ts'
import { SecretBox } from '../platform/secrets/secrets.ts'
import { hourMs, minuteMs } from '../platform/values/durations.ts'
import type { OrganizationId } from '../platform/values/ids.ts'
import { Acceptor } from './acceptance/accept.ts'
import { emailRoutes } from './acceptance/emails.routes.ts'
import { deleteExpiredKeys } from './acceptance/idempotency.ts'
import { NewOrganizationQuota } from './acceptance/new-organization-quota.ts'
import { flowSendRoutes, sendEmailRoutes } from './acceptance/send-email.routes.ts'
import { testEmailRoutes } from './acceptance/test-emails.routes.ts'
import { removeExpiredContents } from './attachments/retention.ts'
import { Uploads } from './attachments/uploads.ts'
import type { AttemptParts } from './attempts/attempt.ts'
import { type BroadcastParts, sendJob } from './attempts/send.job.ts'
import { inboxRoutes } from './inbox/inbox.routes.ts'
import { trimInbox } from './inbox/inbox.ts'
import { emailResourceRoutes } from './messages/email-resource.routes.ts'
import { messageRoutes } from './messages/messages.routes.ts'
import { sendAgainRoutes } from './messages/send-again.routes.ts'
import { resendRoutes } from './resend/resend.routes.ts'
import { listenForSubmission, type SubmissionListener } from './submission/submission.ts'
import { accountEmailJob, createAccountEmails } from './system-emails/account-emails.ts'
import { noticeEmailJob } from './system-emails/notice-emails.ts'
import { queueOldEmails } from './system-emails/old-emails.ts'

/** Short, because users wait for these emails. */
const resetEmailsEveryMs = 2_000

const backlogMetrics = {
  queued: 'waxwing_emails_queued',
  postponed: 'waxwing_emails_deferred',
  lag: 'waxwing_email_lag_seconds',
  title: 'Emails',
}

/** Requests with many or large emails while they are read, of which each takes up to seconds in turns. */
const emailRequests: StageLimits = {
  perOrganization: 2,
  overall: 20,
  waitingPerOrganization: 100,
  waitMs: 5_000,
}

/** What areas above provide. */
export type SendingHooks = {
  isPaused: () => boolean
  broadcasts: BroadcastParts
  /** Called when jobs are given up because of internal errors. */
  onEmailGivenUp: (organizationId: OrganizationId) => void
  onSystemEmailGivenUp: () => void
}

export type Sending = ReturnType<typeof createSending>

/** Accepting emails, by whatever way they come. */
export function createSending(platform: Platform, { senders, carriers }: Delivery, { templates, runner }: ContentBase) {
  const { config, limits, secrets, db, stageRegistry: stages, tasks, formats } = platform
  const quota = quotaOf(config, db)
  const uploads = new Uploads(db, stages, { mibPerOrganization: limits.attachmentMibPerOrganization })
  const builtInFlows = new BuiltInFlows(db)
  const acceptor = new Acceptor({ db, stages, builtInFlows, templates, runner, senders, uploads, quota })
  return {
    accountEmails: createAccountEmails(new SecretBox(secrets, 'account email'), carriers),
    /** For emails without a flow. */
    submitting: {
      acceptor,
      uploads,
      senders,
      tasks,
      formats,
      requests: stages.stage('email requests', 'service', emailRequests),
    },
    testEmails: { acceptor, db, templates, runner, senders },
  }
}

/** Applies only with a relay: emails in the built-in inbox do not leave the service. */
function quotaOf(config: Config, db: Db): NewOrganizationQuota | undefined {
  const { SIGNUP: signup, SMTP_URL: relay, NEW_ORGANIZATION_DAILY_MESSAGES: dailyMax } = config
  return signup === 'open' && relay && dailyMax > 0 ? new NewOrganizationQuota(db, dailyMax) : undefined
}

type Below = { accounts: Accounts; delivery: Delivery; content: ContentBase; attempts: AttemptParts }

export type SendingArea = Area & { submissionPorts(): Pick<SubmissionListener, 'port' | 'tlsPort'> }

export function sendingArea(platform: Platform, sending: Sending, below: Below, hooks: SendingHooks): SendingArea {
  const { db, log, failures, hints, read, stageRegistry, metrics } = platform
  const { relay, senders, carriers } = below.delivery
  const { templates, runner } = below.content
  const { submitting, accountEmails, testEmails } = sending
  const { contents } = below.attempts
  const { acceptor, uploads } = submitting
  const systemEmails = { db, log, carriers, settings: below.attempts.settings }
  const loop = loopsOf(platform)
  const worker = <Work>(spec: WorkerSpec<Work>) => new Worker({ db, log, failures, hints, spec })
  let submission: SubmissionListener | undefined
  measureBacklog(metrics, db, 'message.send', backlogMetrics)
  return {
    routes: {
      publicApi: [
        sendEmailRoutes({ acceptor, db, uploads }),
        emailRoutes(submitting),
        emailResourceRoutes({ db, read }),
      ],
      organization: [
        flowSendRoutes({ acceptor }),
        testEmailRoutes(testEmails),
        messageRoutes({ db, read, contents, templates, runner, relay, senders, stageRegistry }),
        sendAgainRoutes({ db, acceptor }),
        inboxRoutes({ db, read }),
      ],
      resend: [resendRoutes({ ...submitting, db, read, contents })],
    },
    background: [
      worker(sender(platform, below, hooks)),
      loop('prepare emails for password resets', resetEmailsEveryMs, () => prepareResetEmails({ db, accountEmails })),
      loop('queue emails of 0.1.0', minuteMs, () => queueOldEmails(db)),
      worker({ ...accountEmailJob({ ...systemEmails, accountEmails }), onGivenUp: hooks.onSystemEmailGivenUp }),
      worker({
        ...noticeEmailJob(systemEmails),
        isOpen: () => !hooks.isPaused(),
        onGivenUp: hooks.onSystemEmailGivenUp,
      }),
      loop('delete expired idempotency keys', hourMs, () => deleteExpiredKeys(db)),
      loop('remove expired contents of emails', hourMs, () => removeExpiredContents(db)),
      loop('trim the inbox', hourMs, () => trimInbox(db)),
    ],
    start: async ({ serves }) => {
      if (!serves) return
      const { config } = platform
      const { keys, keyLimit, apiRequests } = below.accounts
      submission = await listenForSubmission({
        ...{ acceptor, uploads, senders },
        config,
        keys,
        keyLimit,
        stageRegistry,
        apiRequests,
        log,
      })
    },
    stop: { withRequests: () => submission?.close() },
    submissionPorts: () => ({ port: submission?.port, tlsPort: submission?.tlsPort }),
  }
}

/** Sends single emails. While sending is paused, they stay queued. */
function sender(platform: Platform, { delivery, content, attempts }: Below, hooks: SendingHooks) {
  const { isPaused, broadcasts, onEmailGivenUp: onGivenUp } = hooks
  const { db, stageRegistry } = platform
  const inFlightMax = inFlightMaxOf(delivery)
  const spec = sendJob({ ...attempts, db, stageRegistry, templates: content.templates, inFlightMax, broadcasts })
  return { ...spec, onGivenUp, isOpen: () => !isPaused() && (spec.isOpen?.() ?? true) }
}
