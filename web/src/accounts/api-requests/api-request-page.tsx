import { Anchor, List } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Link, useParams } from 'react-router'
import type { ApiRequestDetail } from '../../api/types.ts'
import { paths } from '../../paths.ts'
import { CodeBlock, Copyable } from '../../ui/copy.tsx'
import { Facts } from '../../ui/facts.tsx'
import { indentedJson } from '../../ui/json.ts'
import { Notice } from '../../ui/notice.tsx'
import { Page } from '../../ui/page.tsx'
import { Section } from '../../ui/section.tsx'
import { Load } from '../../ui/states.tsx'
import { Time } from '../../ui/time.tsx'
import { apiRequestQuery } from './api-requests.api.ts'
import { durationOf, notSentText, RequestStatus } from './request-status.tsx'

const sources: Record<ApiRequestDetail['via'], string> = {
  api: 'HTTP API',
  mcp: 'MCP, by an assistant',
  smtp: 'SMTP',
}

export function ApiRequestPage() {
  const { id = '' } = useParams()
  const request = useQuery(apiRequestQuery(id))
  return (
    <Page
      title={request.data ? `${request.data.method} ${request.data.path}` : 'API request'}
      beside={request.data && <RequestStatus request={request.data} />}
      back={{ to: paths.apiRequests, label: 'API requests' }}
    >
      <Load query={request}>{(detail) => <RequestView request={detail} />}</Load>
    </Page>
  )
}

const shortened = 'Secrets are replaced, and long texts and lists are shortened.'

const Messages = ({ ids }: { ids: string[] }) =>
  ids.map((id) => (
    <div key={id}>
      <Anchor component={Link} to={paths.message(id)}>
        {id}
      </Anchor>
    </div>
  ))

function RequestView({ request }: { request: ApiRequestDetail }) {
  const query = request.query && JSON.stringify(request.query)
  return (
    <>
      {request.error_type && (
        <Notice tone={request.status >= 500 ? 'bad' : 'warn'} title={request.error_type}>
          {request.error_message}
          {request.error_fields.length > 1 && (
            <List size="sm" mt={4}>
              {request.error_fields.map(({ path, problem }) => (
                <List.Item key={path}>
                  <code>{path}</code> {problem}
                </List.Item>
              ))}
            </List>
          )}
        </Notice>
      )}
      {request.not_sent && (
        <Notice tone="warn" title="Accepted, but not sent">
          {notSentText(request)}
        </Notice>
      )}
      <Facts
        facts={[
          ['Request ID', <Copyable key="id" value={request.request_id} label="Copy request ID" />],
          [
            'API key',
            <Anchor key="key" component={Link} to={`${paths.apiRequests}?key=${request.api_key_id}`}>
              {request.api_key_name ?? request.api_key_id}
            </Anchor>,
          ],
          ...(request.message_ids.length === 0
            ? []
            : [['Messages', <Messages key="messages" ids={request.message_ids} />] as [string, ReactNode]]),
          ['Time', <Time key="at" at={request.at} />],
          ['Duration', durationOf(request)],
          ['Made with', sources[request.via]],
          ['Client address', request.client ?? '–'],
          ['User agent', request.user_agent ?? '–'],
        ]}
      />
      {query && (
        <Section title="Query">
          <CodeBlock code={query} shown={indentedJson(query)} label="query" />
        </Section>
      )}
      {request.response && (
        <Section title="Response" description={shortened}>
          <CodeBlock code={request.response} shown={indentedJson(request.response)} label="response" />
        </Section>
      )}
      {request.body && (
        <Section title="Body" description={shortened}>
          <CodeBlock code={request.body} shown={indentedJson(request.body)} label="body" />
        </Section>
      )}
    </>
  )
}
