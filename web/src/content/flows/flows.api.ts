import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { api, dataOf, ensureSuccess, omitEmpty, pageOf } from '../../api/client.ts'
import { keys } from '../../api/keys.ts'
import { usePages } from '../../api/pages.ts'
import type { FlowRow, FlowStatus, FlowText, SettableFlowStatus } from '../../api/types.ts'
import type { Context } from './sample-data.ts'

const at = (id: string) => ({ params: { path: { id } } })
const choicesMax = 50

export const useFlows = (filter: { query: string; status: FlowStatus | '' }) =>
  usePages<FlowRow>(keys.flowList(filter), (from, signal) =>
    pageOf(api.GET('/api/v1/organization/flows', { params: { query: { ...omitEmpty(filter), ...from } }, signal })),
  )

/** Flows to choose from: the newest, or those whose name contains the text. */
export const flowChoicesQuery = (text: string, filter: { status?: FlowStatus; include_built_in?: boolean } = {}) =>
  queryOptions({
    queryKey: keys.search(`flows ${JSON.stringify(filter)}`, text),
    queryFn: async ({ signal }) => {
      const query = { ...omitEmpty({ query: text }), ...filter, limit: choicesMax }
      return (await pageOf(api.GET('/api/v1/organization/flows', { params: { query }, signal }))).items
    },
    placeholderData: keepPreviousData,
    staleTime: 10_000,
  })

/** Finds a flow by its id, also a built-in or archived one. */
export const flowNameQuery = (id: string) =>
  queryOptions({
    queryKey: keys.flowName(id),
    queryFn: async (): Promise<{ id: string; name: string }> => {
      const query = { query: id, include_built_in: true }
      const { items } = await pageOf(api.GET('/api/v1/organization/flows', { params: { query } }))
      return items[0] ?? dataOf(api.GET('/api/v1/organization/flows/{id}', at(id)))
    },
    retry: false,
    staleTime: 60_000,
  })

export const flowQuery = (id: string) =>
  queryOptions({ queryKey: keys.flow(id), queryFn: () => dataOf(api.GET('/api/v1/organization/flows/{id}', at(id))) })

/** A revision never changes. */
export const draftQuery = (id: string, revision: number) =>
  queryOptions({
    queryKey: keys.flowDraft(id, revision),
    queryFn: () => dataOf(api.GET('/api/v1/organization/flows/{id}/draft', at(id))),
    enabled: revision > 0,
    placeholderData: keepPreviousData,
    staleTime: Number.POSITIVE_INFINITY,
  })
type DraftChanges = Partial<FlowText> & { base_version?: number; base_revision: number }
export const saveDraft = (id: string, body: DraftChanges) =>
  dataOf(api.PUT('/api/v1/organization/flows/{id}/draft', { ...at(id), body }))
export const discardDraft = (id: string) => ensureSuccess(api.DELETE('/api/v1/organization/flows/{id}/draft', at(id)))
export const publishDraft = (id: string, body: { base_version: number; base_revision: number }) =>
  dataOf(api.POST('/api/v1/organization/flows/{id}/publish', { ...at(id), body }))
export const duplicateFlow = (id: string) =>
  dataOf(api.POST('/api/v1/organization/flows/{id}/duplicate', { ...at(id), body: {} }))

export const createDraft = (body: FlowText) =>
  dataOf(api.POST('/api/v1/organization/flows', { body: { ...body, draft: true } }))
export const createFlow = (body: FlowText) => dataOf(api.POST('/api/v1/organization/flows', { body }))
type FlowChanges = Partial<FlowText> & { status?: SettableFlowStatus }
export const changeFlow = (id: string, body: FlowChanges) =>
  dataOf(api.PATCH('/api/v1/organization/flows/{id}', { ...at(id), body }))
export const deleteFlow = (id: string) => ensureSuccess(api.DELETE('/api/v1/organization/flows/{id}', at(id)))
export const sendTest = (id: string, body: { to: string[]; context: Context; draft: boolean }) =>
  dataOf(api.POST('/api/v1/organization/flows/{id}/test', { ...at(id), body }))
export const sendToContact = (id: string, contactEmail: string) =>
  dataOf(api.POST('/api/v1/organization/flows/{id}/send', { ...at(id), body: { contact_email: contactEmail } }))

const contactChoicesMax = 10
export const contactChoicesQuery = (query: string) =>
  queryOptions({
    queryKey: keys.search('preview-recipients', query),
    queryFn: async ({ signal }) => {
      const params = { query: { ...omitEmpty({ query }), limit: contactChoicesMax } }
      return (await pageOf(api.GET('/api/v1/organization/contacts', { params, signal }))).items
    },
    placeholderData: keepPreviousData,
    staleTime: 10_000,
  })

type PreviewInput = Pick<FlowText, 'kind' | 'subject' | 'html' | 'html_format' | 'text'> & {
  from_email?: FlowText['from_email']
  context: Context
  contact_email?: string
}

/** The email as it would be sent to the contact, or to the current user, saved or not. The last preview stays while the next one loads. */
export const previewQuery = (body: PreviewInput) =>
  queryOptions({
    queryKey: keys.flowPreview(body),
    queryFn: ({ signal }) => dataOf(api.POST('/api/v1/organization/flows/preview', { body, signal })),
    placeholderData: keepPreviousData,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 10_000,
  })

export const checkLinks = (urls: string[]) =>
  dataOf(api.POST('/api/v1/organization/flows/check-links', { body: { urls } }))

/** The variables of a subject, or null if it has an error. */
export const subjectVariablesQuery = (subject: string) =>
  queryOptions({
    queryKey: keys.flowPreview({ subject }),
    queryFn: async ({ signal }) => {
      const body = { subject, html: '-' }
      const { variables, problems } = await dataOf(api.POST('/api/v1/organization/flows/preview', { body, signal }))
      // Without values, a valid subject may be a problem as well.
      return variables.length === 0 && problems.length > 0 ? null : variables
    },
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 60_000,
  })

/** Publishes the flow again with the current brand. */
export const rebuildFlow = (id: string) => dataOf(api.POST('/api/v1/organization/flows/{id}/rebuild', at(id)))

export const versionsQuery = (id: string) =>
  queryOptions({
    queryKey: keys.flowVersions(id),
    queryFn: () => dataOf(api.GET('/api/v1/organization/flows/{id}/versions', at(id))),
  })
export const versionQuery = (id: string, version: number) =>
  queryOptions({
    queryKey: keys.flowVersion(id, version),
    queryFn: () =>
      dataOf(
        api.GET('/api/v1/organization/flows/{id}/versions/{version}', {
          params: { path: { id, version: String(version) } },
        }),
      ),
    staleTime: Number.POSITIVE_INFINITY,
  })
