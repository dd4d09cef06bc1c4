import type { Area } from '../platform/area.ts'
import { loopsOf } from '../platform/area.ts'
import type { Platform } from '../platform/platform.ts'
import { RequestsInFlight } from '../platform/http/in-flight.ts'
import { RateLimit } from '../platform/runtime/rate-limit.ts'
import { hourMs } from '../platform/values/durations.ts'
import { ApiRequestLog, deleteExpiredApiRequests } from './api-requests/api-request-log.ts'
import { apiRequestRoutes } from './api-requests/api-requests.routes.ts'
import type { AccountEmails } from './people/account-emails.ts'
import { deleteExpiredCredentials } from './people/accounts.ts'
import { apiKeyRoutes, tokenCheckRoutes } from './people/api-keys.routes.ts'
import { authRoutes } from './people/auth.routes.ts'
import { createEmailChangeLimit } from './people/email-changes.ts'
import { acceptanceRoutes, invitationRoutes } from './people/invitations.routes.ts'
import { createInvitationEmailLimit } from './people/invitations.ts'
import { KeyCache } from './people/key-cache.ts'
import { type OrganizationRouteParts, organizationRoutes } from './people/organization.routes.ts'
import { ResetLimit } from './people/password-resets.ts'
import { type ProfileParts, profileRoutes } from './people/profile.routes.ts'
import { recoveryRoutes } from './people/recovery.routes.ts'
import { Sessions } from './people/sessions.ts'
import { type TeamParts, teamRoutes } from './people/team.routes.ts'
import { LoginThrottle } from './people/throttle.ts'

/** What areas above provide. */
export type AccountsHooks = {
  accountEmails: AccountEmails
  transportOf: ProfileParts['transportOf']
  pauseWebhooksOf: TeamParts['pauseWebhooksOf']
  checkSender: OrganizationRouteParts['checkSender']
  onOrganizationChanged: OrganizationRouteParts['onChanged']
}

export type Accounts = ReturnType<typeof createAccounts>

/** People, sessions and API keys. */
export function createAccounts(platform: Platform) {
  const { config, limits, secrets, db, stageRegistry, failures } = platform
  const { sessionRequestsPerSecond: perUser, signInRequestsPerMinute: signIns } = limits
  const perKey = config.RATE_LIMIT_PER_SECOND
  return {
    keys: new KeyCache(db, stageRegistry, failures),
    sessions: new Sessions(secrets),
    throttle: new LoginThrottle(),
    apiRequests: new ApiRequestLog({ db, failures }),
    inFlight: new RequestsInFlight(limits.requestsInFlightPerCaller),
    keyLimit: new RateLimit({
      perSecond: perKey,
      message: `This key may make ${perKey} requests a second. Slow down and try again.`,
    }),
    userLimit: new RateLimit({
      perSecond: perUser,
      burst: perUser * 10,
      message: `You may make ${perUser} requests a second. Slow down and try again.`,
    }),
    signUpLimit: new RateLimit({
      perSecond: config.SIGNUPS_PER_HOUR / 3_600,
      burst: config.SIGNUPS_PER_HOUR,
      message: 'Too many organizations were registered from your address. Try again later.',
    }),
    signInLimit: new RateLimit({
      perSecond: signIns / 60,
      burst: signIns,
      message: 'Too many requests from your address. Wait a minute and try again.',
    }),
  }
}

export function accountsArea(platform: Platform, accounts: Accounts, hooks: AccountsHooks): Area {
  const { config, db, read, baseUrl } = platform
  const { keys, sessions, throttle, signUpLimit, apiRequests } = accounts
  const accountEmails = hooks.accountEmails
  const loop = loopsOf(platform)
  return {
    routes: {
      publicApi: [tokenCheckRoutes()],
      signIn: [
        authRoutes({ db, sessions, throttle, accountEmails, signup: config.SIGNUP, signUpLimit }),
        acceptanceRoutes({ db, sessions, throttle }),
        recoveryRoutes({ db, sessions, accountEmails, resetLimit: new ResetLimit() }),
      ],
      member: [
        profileRoutes({
          db,
          sessions,
          throttle,
          accountEmails,
          emailChangeLimit: createEmailChangeLimit(),
          transportOf: hooks.transportOf,
        }),
      ],
      organization: [
        organizationRoutes({
          db,
          checkSender: hooks.checkSender,
          onChanged: hooks.onOrganizationChanged,
          eventRetentionMonths: config.EVENT_RETENTION_MONTHS,
        }),
        teamRoutes({ db, read, keys, pauseWebhooksOf: hooks.pauseWebhooksOf }),
        invitationRoutes({ db, read, accountEmails, invitationEmailLimit: createInvitationEmailLimit(), baseUrl }),
        apiKeyRoutes({ db, read, keys }),
        apiRequestRoutes({ read }),
      ],
    },
    background: [
      loop('delete expired sessions and links', hourMs, () => deleteExpiredCredentials(db)),
      loop('delete old API requests', hourMs, () => deleteExpiredApiRequests(db)),
    ],
    start: async ({ serves }) => {
      if (serves) keys.start()
    },
    stop: {
      afterRequests: async () => {
        keys.stop()
        await apiRequests.stop()
      },
    },
  }
}
