import { randomBytes } from 'node:crypto'
import type { Db, Tx } from '../../platform/db/db.ts'
import { defaultRules } from '../../platform/egress/response-rules.ts'
import { checkWebhookUrl } from '../../platform/egress/webhook-url.ts'
import type { CheckUnchanged } from '../../platform/http/etag.ts'
import type { FieldsOf } from '../../platform/http/out-of.ts'
import { announceChange, dropLane, setLanePaused } from '../../platform/queue/queue.ts'
import type { SecretBox } from '../../platform/secrets/secrets.ts'
import type { Actor } from '../../platform/values/actor.ts'
import { invalid, notFound, Refusal } from '../../platform/values/errors.ts'
import {
  eventNames,
  isSelectedByName,
  type WebhookEventName,
  webhookEventNames,
} from '../../platform/values/event-types.ts'
import { newId, type OrganizationId, type UserId, type WebhookId } from '../../platform/values/ids.ts'
import { checkName } from '../../platform/values/names.ts'
import { deliverKind } from './fan-out.ts'
import type { WebhookChangesIn, WebhookIn } from './webhooks.shapes.ts'
import {
  countWebhooks,
  deleteWebhookRow,
  findWebhook,
  insertWebhook,
  lockWebhook,
  pauseActiveWebhooksOf,
  rotateSecret,
  updateWebhook,
  type Webhook,
} from './webhooks.sql.ts'

export type { Webhook } from './webhooks.sql.ts'

const webhooksMax = 50
export const overlapHoursMax = 24 * 30
const secretBytes = 32

export type WebhookInput = FieldsOf<typeof WebhookIn>
export type WebhookChanges = FieldsOf<typeof WebhookChangesIn> & {
  checkUnchanged?: CheckUnchanged<Webhook> | undefined
}

export type WebhookParts = { db: Db; box: SecretBox; allowPrivate: boolean }

/** Stripe's library uses the whole string as the key, Standard Webhooks the bytes after the prefix. */
export const newWebhookSecret = () => `whsec_${randomBytes(secretBytes).toString('base64')}`

/** Returns the secret only once. Throws `Refusal` if the input is invalid or there are too many webhooks. */
export async function createWebhook(
  { db, box, allowPrivate }: WebhookParts,
  organizationId: OrganizationId,
  actor: Actor,
  input: WebhookInput,
): Promise<{ webhook: Webhook; secret: string }> {
  const name = checkName(input.name)
  const url = checkUrl(input.url, allowPrivate)
  const selection = checkEvents(input.eventTypes, input.allEvents ?? false)
  const secret = newWebhookSecret()
  const webhook = await db.by(actor).begin(async (tx) => {
    if ((await countWebhooks(tx, organizationId)) >= webhooksMax)
      throw new Refusal(
        'conflict',
        `An organization can have at most ${webhooksMax} webhooks. Delete one that is no longer needed.`,
      )
    return insertWebhook(tx, {
      organizationId,
      id: newId('whk'),
      name,
      url,
      ...selection,
      acknowledge: input.acknowledge ?? defaultRules.acknowledge,
      retry4xx: input.retry4xx?.toSorted() ?? defaultRules.retry4xx,
      retrySchedule: input.retrySchedule ?? 'standard',
      secret: box.seal(secret),
    })
  })
  return { webhook, secret }
}

export async function changeWebhook(
  { db, allowPrivate }: WebhookParts,
  organizationId: OrganizationId,
  id: WebhookId,
  changes: WebhookChanges,
): Promise<Webhook> {
  const changed = await db.begin(async (tx) => {
    const current = await lockWebhook(tx, organizationId, id)
    if (!current) throw notFound('webhook')
    changes.checkUnchanged?.(current)
    const selection =
      changes.eventTypes === undefined && changes.allEvents === undefined
        ? { eventTypes: current.eventTypes, allEvents: current.allEvents }
        : checkEvents(
            changes.eventTypes ?? current.eventTypes,
            changes.allEvents ?? (changes.eventTypes === undefined && current.allEvents),
          )
    const status = changes.status ?? current.status
    // Workers may have loaded deliveries with the previous settings.
    announceChange(tx, deliverKind, [id])
    if (changes.status !== undefined) await setLanePaused(tx, organizationId, deliverKind, id, status === 'paused')
    return updateWebhook(tx, {
      organizationId,
      id,
      name: changes.name === undefined ? current.name : checkName(changes.name),
      url: changes.url === undefined ? current.url : checkUrl(changes.url, allowPrivate),
      ...selection,
      acknowledge: changes.acknowledge ?? current.acknowledge,
      retry4xx: changes.retry4xx?.toSorted() ?? current.retry4xx,
      retrySchedule: changes.retrySchedule ?? current.retrySchedule,
      status,
    })
  })
  if (!changed) throw notFound('webhook')
  return changed
}

/** Pauses the webhooks that a member created. */
export async function pauseWebhooksOf(tx: Tx, organizationId: OrganizationId, userId: UserId): Promise<void> {
  const ids = await pauseActiveWebhooksOf(tx, organizationId, userId)
  for (const id of ids) await setLanePaused(tx, organizationId, deliverKind, id, true)
}

/** Deletes the webhook. Its delivery log is deleted later, since it may be long. */
export async function deleteWebhook({ db }: WebhookParts, organizationId: OrganizationId, id: WebhookId) {
  await db.begin(async (tx) => {
    if (!(await deleteWebhookRow(tx, organizationId, id))) throw notFound('webhook')
    await dropLane(tx, organizationId, deliverKind, id)
    announceChange(tx, deliverKind, [id])
  })
}

export async function rotateWebhookSecret(
  { db, box }: WebhookParts,
  organizationId: OrganizationId,
  id: WebhookId,
  overlapHours = 24,
): Promise<{ webhook: Webhook; secret: string }> {
  const secret = newWebhookSecret()
  const webhook = await db.begin(async (tx) => {
    announceChange(tx, deliverKind, [id])
    return rotateSecret(tx, { organizationId, id }, box.seal(secret), overlapHours)
  })
  if (!webhook) throw notFound('webhook')
  return { webhook, secret }
}

export async function getWebhook(db: Db, organizationId: OrganizationId, id: WebhookId): Promise<Webhook> {
  const webhook = await findWebhook(db, organizationId, id)
  if (!webhook) throw notFound('webhook')
  return webhook
}

function checkUrl(text: string, allowPrivate: boolean): string {
  const checked = checkWebhookUrl(text, { allowPrivate })
  if ('problem' in checked) throw invalid({ path: 'url', problem: checked.problem })
  return checked.url
}

/** All events include changes of contacts and events of broadcasts only if these are named as well. */
function checkEvents(names: readonly WebhookEventName[] | undefined, allEvents: boolean) {
  const eventTypes = [...new Set(names)]
  if (allEvents) return { eventTypes: [...eventNames, ...eventTypes.filter(isSelectedByName)], allEvents }
  if (eventTypes.length === 0)
    throw invalid({
      path: 'event_types',
      problem: `must contain at least one of ${webhookEventNames.join(', ')}; alternatively, set all_events`,
    })
  return { eventTypes, allEvents }
}
