import { useSyncExternalStore } from 'react'
import { basePath } from '../../api/base.ts'

type Session = { token: string; expiresAt: string; email: string }
type SessionResponse = { token: string; expires_at: string; user: { email: string } }

/** `expired`: the app stays as it is, with all input, and a dialog asks for the password over it. */
type SessionState =
  | { kind: 'out' }
  | { kind: 'in'; session: Session }
  | { kind: 'expired'; session: Session; signedOut: boolean }

// Two installations may share one origin with different base paths.
const storageKey = `waxwing.session:${basePath}`

let state: SessionState = read()
const listeners = new Set<() => void>()
let clearCache = () => {}
let renewal: { promise: Promise<void>; resolve: () => void } | undefined

export const getSession = (): Session | undefined => (state.kind === 'out' ? undefined : state.session)

export function useSession(): SessionState {
  return useSyncExternalStore(subscribe, () => state)
}

/** Registers the function that clears cached data when a session ends or another account signs in. */
export function onAccountChange(clear: () => void): void {
  clearCache = clear
}

/** Stores a new session and continues the requests that wait for it. */
export function startSession({ token, expires_at: expiresAt, user }: SessionResponse): void {
  const session = { token, expiresAt, email: user.email }
  // An invitation can be accepted while another account is signed in.
  if (getSession()?.email !== session.email) dropAccount()
  localStorage.setItem(storageKey, JSON.stringify(session))
  resume(session)
}

function resume(session: Session): void {
  change({ kind: 'in', session })
  renewal?.resolve()
  renewal = undefined
}

/** The signed-in user confirmed a new email address. */
export function renameSession(oldEmail: string, email: string): void {
  if (state.kind !== 'in' || state.session.email !== oldEmail) return
  const session = { ...state.session, email }
  localStorage.setItem(storageKey, JSON.stringify(session))
  change({ kind: 'in', session })
}

export function endSession(): void {
  localStorage.removeItem(storageKey)
  change({ kind: 'out' })
  dropAccount()
}

/** Requests that wait for the previous account must never be sent with the session of the next one. */
function dropAccount(): void {
  renewal = undefined
  clearCache()
}

/** Waits until the user has signed in again. Concurrent requests wait for the same renewal. */
export async function expireSession(token: string): Promise<void> {
  if (state.kind === 'in' && state.session.token !== token) return
  if (state.kind === 'in') change({ kind: 'expired', session: state.session, signedOut: false })
  await waitForRenewal()
}

/** Returns the session for the next request. Waits for the renewal of an expired one, even if its token may still be valid. */
export async function currentSession(): Promise<Session | undefined> {
  if (state.kind === 'expired') await waitForRenewal()
  return getSession()
}

function waitForRenewal(): Promise<void> {
  renewal ??= createRenewal()
  return renewal.promise
}

function createRenewal() {
  let resolve = () => {}
  const promise = new Promise<void>((done) => {
    resolve = done
  })
  return { promise, resolve }
}

function change(next: SessionState): void {
  state = next
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

function read(): SessionState {
  try {
    const session = JSON.parse(localStorage.getItem(storageKey) ?? '') as Session
    if (typeof session.token === 'string') return { kind: 'in', session }
  } catch {
    // Nothing valid is stored: signed out.
  }
  return { kind: 'out' }
}

/**
 * Follows sign-ins and sign-outs in other tabs. A sign-out there asks for the password here, because this tab may have
 * unsaved changes. If the same account signs in again they are kept; another account does not see them.
 */
export function followOtherTabs(): void {
  window.addEventListener('storage', (event) => {
    if (event.key !== storageKey) return
    const next = read()
    const before = getSession()
    if (next.kind === 'in') {
      if (before && before.email !== next.session.email) reloadForOtherAccount()
      else resume(next.session)
    } else if (before) change({ kind: 'expired', session: before, signedOut: true })
  })
}

/** Removes the page first: with unsaved changes it would ask for confirmation and could prevent the reload. */
function reloadForOtherAccount(): void {
  change({ kind: 'out' })
  dropAccount()
  setTimeout(() => window.location.reload())
}
