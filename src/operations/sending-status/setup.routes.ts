import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { DefaultSenderOut, type Member, memberOf } from '../../accounts/accounts.ts'
import { baseUrl } from '../../platform/config/setting-values.ts'
import { answers, Named, Nullable, ok, oneOf } from '../../platform/http/envelope.ts'
import { tagRoutes } from '../../platform/http/tags.ts'
import { invalid, Refusal } from '../../platform/values/errors.ts'
import { toText } from '../../platform/values/ids.ts'
import { findSetup, type SetupParts } from './setup.ts'
import { isReady, setupSteps, stepKeys } from './setup-steps.ts'

const baseUrlMax = 300

const SetupOut = Named('SendingSetup', {
  ready: Type.Boolean({ description: 'Whether all required steps are done.' }),
  steps: Type.Array(
    Named('SendingSetupStep', {
      key: oneOf(...stepKeys),
      state: {
        ...oneOf('done', 'todo', 'failing'),
        description: '`failing`: it was done, or was begun, and does not work.',
      },
      required: Type.Boolean({ description: 'Whether `ready` depends on it.' }),
      message: Type.String({ description: 'What is used, or what to do, in a sentence or two.' }),
      domain_id: Nullable(Type.String({ description: 'The domain that the step is about.' })),
      mail_server_id: Nullable(Type.String({ description: 'The mail server that the step is about.' })),
    }),
    { description: 'In the order in which they are done.' },
  ),
  default_sender: Named('UsedDefaultSender', {
    ...DefaultSenderOut.properties,
    is_chosen: Type.Boolean({ description: 'False if it is that of the installation.' }),
  }),
  base_url: Named('PublicAddress', {
    url: Type.String({ description: 'The address with which links in emails start.' }),
    source: {
      ...oneOf('environment', 'app', 'default'),
      description: 'Where it is set. Only operators can change it, unless it is set in the environment.',
    },
  }),
})

export type SetupRouteParts = SetupParts & {
  /** Called after the public address was changed. */
  onAddressChanged: () => void
}

/** Operators need no button: the records are looked up again when the page is open and the last look is older. */
const recordsKeptMs = 60_000

export function setupRoutes(parts: SetupRouteParts): FastifyPluginAsyncTypebox {
  const { publicAddress, sending } = parts
  const setupOut = async (member: Member) => {
    const facts = await findSetup(parts, member)
    if (facts.isOperator && Date.now() - (sending.checkedAt?.getTime() ?? 0) > recordsKeptMs)
      sending.check().catch(() => {})
    const steps = setupSteps(facts)
    const { name, email, isChosen } = facts.sender
    return {
      ready: isReady(steps),
      steps: steps.map(({ key, state, isRequired, message, domain, server }) => ({
        ...{ key, state, message, required: isRequired },
        domain_id: domain ? toText('dom', domain.id) : null,
        mail_server_id: server ? toText('mse', server.id) : null,
      })),
      default_sender: { name, email, is_chosen: isChosen },
      base_url: facts.baseUrl,
    }
  }
  return async (api) => {
    tagRoutes(api, 'Sending')
    api.get('/sending/setup', {
      config: { permission: 'sending:read' },
      schema: {
        operationId: 'getSendingSetup',
        summary: 'Get the steps to the first real email',
        description:
          'From no mail server to an email in a real mailbox: what is done and what is missing. Computed from what is really used: first the mail servers, domains and sender of the organization, then those of the installation. Names of settings are shown to operators only.',
        response: answers(SetupOut),
      },
      handler: async (request) => ok(await setupOut(memberOf(request))),
    })
    api.patch('/sending/setup', {
      config: { permission: 'installation:write' },
      schema: {
        operationId: 'changeSendingSetup',
        summary: 'Change the public address of the installation',
        description:
          'Only for owners of the organization that operates this installation. Links in new emails start with it after 30 seconds at most, in all processes. `BASE_URL` in the environment takes precedence.',
        errors: { conflict: '`BASE_URL` is set in the environment.' },
        body: Type.Object({
          base_url: Nullable(
            Type.String({
              maxLength: baseUrlMax,
              description: 'Such as `https://mail.example.com`. Null: `http://localhost:PORT`.',
            }),
          ),
        }),
        response: answers(SetupOut),
      },
      handler: async (request) => {
        const { base_url: given } = request.body
        if (publicAddress.source === 'environment')
          throw new Refusal('conflict', 'BASE_URL is set in the environment, which takes precedence. Change it there.')
        await publicAddress.change(given === null ? null : checkBaseUrl(given))
        parts.onAddressChanged()
        return ok(await setupOut(memberOf(request)))
      },
    })
  }
}

/** By the rules of BASE_URL. */
function checkBaseUrl(given: string): string {
  try {
    return baseUrl(given.trim())
  } catch (error) {
    throw invalid({ path: 'base_url', problem: (error as Error).message })
  }
}
