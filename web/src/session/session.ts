import { useSyncExternalStore } from 'react'
import { basePath } from '../api/base.ts'

type Session = { token: string; expiresAt: string; email: string }
type Granted = { token: string; expires_at: string; user: { email: string } }

/** `expired`: the app stays as it is, with all input, and a dialog asks for the password over it. */
type SessionState =
  | { kind: 'out' }
  | { kind: 'in'; session: Session }
  | { kind: 'expired'; session: Session; signedOut: boolean }

// Two services may share one origin under different paths.
const storageKey = `waxwing.session:${basePath}`

let state: SessionState = read()
const listeners = new Set<() => void>()
let forget = () => {}
let renewal: { promise: Promise<void>; resolve: () => void } | undefined

export const getSession = (): Session | undefined => (state.kind === 'out' ? undefined : state.session)

export function useSession(): SessionState {
  return useSyncExternalStore(subscribe, () => state)
}

/** Says how to forget what was read with a session, for when it ends or another account's begins. */
export function forgetBy(how: () => void): void {
  forget = how
}

/** Begins what the service has just granted. */
export function startSession({ token, expires_at: expiresAt, user }: Granted): void {
  const session = { token, expiresAt, email: user.email }
  // An invitation can be accepted while somebody else is still signed in.
  if (getSession()?.email !== session.email) leave()
  localStorage.setItem(storageKey, JSON.stringify(session))
  goOn(session)
}

function goOn(session: Session): void {
  change({ kind: 'in', session })
  renewal?.resolve()
  renewal = undefined
}

export function endSession(): void {
  localStorage.removeItem(storageKey)
  change({ kind: 'out' })
  leave()
}

/** What still waits for the account before must never go out in the name of the next. */
function leave(): void {
  renewal = undefined
  forget()
}

/** Waits until the person has signed in again. Requests that come here meanwhile wait for the same renewal. */
export async function expireSession(token: string): Promise<void> {
  if (state.kind === 'in' && state.session.token !== token) return
  if (state.kind === 'in') change({ kind: 'expired', session: state.session, signedOut: false })
  await renewed()
}

/** The session to ask with. Nothing is asked with one that is over, though its token may still be good. */
export async function currentSession(): Promise<Session | undefined> {
  if (state.kind === 'expired') await renewed()
  return getSession()
}

function renewed(): Promise<void> {
  renewal ??= newRenewal()
  return renewal.promise
}

function newRenewal() {
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
    // Nothing stored, or not ours: signed out.
  }
  return { kind: 'out' }
}

/**
 * Follows what another tab does. Signing out there asks for the password here, over work that may not be saved; the
 * same account signing in again goes on with it, and another account finds nothing of it.
 */
export function followOtherTabs(): void {
  window.addEventListener('storage', (event) => {
    if (event.key !== storageKey) return
    const next = read()
    const before = getSession()
    if (next.kind === 'in') {
      if (before && before.email !== next.session.email) startOver()
      else goOn(next.session)
    } else if (before) change({ kind: 'expired', session: before, signedOut: true })
  })
}

/** Takes the page away first: one with unsaved work would ask whether to leave, and could stay. */
function startOver(): void {
  change({ kind: 'out' })
  leave()
  setTimeout(() => window.location.reload())
}
