export type { ApiRequestLog } from './api-requests/api-request-log.ts'
export { callerOf } from './api-requests/caller.ts'
export { isViaMcp, viaMcp } from './api-requests/record-requests.ts'
export { redact, redactText } from './api-requests/redact.ts'
export type { Accounts } from './area.ts'
export type { AccountEmail, AccountEmails } from './people/account-emails.ts'
export { hasUsers, isPasswordOf, lockSignup, register, resetPassword } from './people/accounts.ts'
export type { AlertKind } from './people/alerts.ts'
export { createApiKey } from './people/api-keys.ts'
export { confirmImport } from './people/confirm-import.ts'
export type { DefaultSender } from './people/default-sender.ts'
export { findDefaultSender, proposeDefaultSender, removeDefaultSender } from './people/default-sender.ts'
export type { Member } from './people/guards.ts'
export {
  keyOf,
  keyTextOf,
  may,
  memberOf,
  organizationIdOf,
  organizationNameOf,
  targetOf,
  timezoneOf,
} from './people/guards.ts'
export type { KeyCache, KnownKey } from './people/key-cache.ts'
export { apiKeyPattern, hashKey } from './people/key-cache.ts'
export { prepareResetEmails } from './people/password-resets.ts'
export { generatePassword } from './people/passwords.ts'
export type { Permission } from './people/permissions.ts'
export { actorMay, personMay, rolePermissions, scopeOf } from './people/permissions.ts'
export { lackOf } from './people/route-permissions.ts'
export type { Scope } from './people/scopes.ts'
export { hasScope } from './people/scopes.ts'
export { Sessions } from './people/sessions.ts'
export { CreatorOut, creatorOut, DefaultSenderOut, organizationNameMax } from './people/shapes.ts'
export { startSession } from './people/start-session.ts'
export { LoginThrottle } from './people/throttle.ts'
