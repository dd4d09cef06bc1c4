import { Anchor, Button, List, Stack, Text } from '@mantine/core'
import { IconLink } from '@tabler/icons-react'
import { useMutation } from '@tanstack/react-query'
import { Link } from 'react-router'
import { formProblem } from '../../api/api-error.ts'
import type { CheckedLink, EmailBlocker, EmailFinding } from '../../api/types.ts'
import { Notice } from '../../ui/notice.tsx'
import { pluralize } from '../../ui/numbers.ts'
import { ErrorLine } from '../../ui/states.tsx'
import { Blockers } from './blockers.tsx'
import { checkLinks } from './flows.api.ts'
import { locationOf } from './problems.tsx'

type Finding = EmailFinding & { variant?: string | null }
type Props = {
  blockers: EmailBlocker[]
  findings: Finding[]
  links: string[]
  mjml?: boolean
  /** Shows the place in the template, */
  onChoose?: ((finding: Finding) => void) | undefined
  /** or leads to the editor. */
  editorPath?: string | undefined
}

/** What to correct and to improve before the email is sent, and whether its links work, on request. */
export function EmailCheck({ blockers, findings, links, mjml = false, onChoose, editorPath }: Props) {
  // A missing address is a blocker.
  const suggestions = findings.filter(({ check }) => check !== 'postal_address')
  return (
    <Stack gap="xs">
      <Stack gap="xs" aria-live="polite">
        <Blockers blockers={blockers} />
        {suggestions.length > 0 && (
          <Notice tone="warn" title={pluralize(suggestions.length, 'suggestion', 'suggestions')}>
            <List size="sm" spacing={6} mt={4}>
              {suggestions.map((finding) => (
                <List.Item
                  key={`${finding.variant} ${finding.check} ${finding.line} ${finding.column} ${finding.problem}`}
                  className="break"
                >
                  {finding.variant && `Variant ${finding.variant}: `}
                  {finding.problem} {finding.advice}
                  <Place {...{ finding, mjml, onChoose, editorPath }} />
                </List.Item>
              ))}
            </List>
          </Notice>
        )}
      </Stack>
      {/* The results belong to these links. */}
      {links.length > 0 && <LinkCheck key={links.join(' ')} links={links} />}
    </Stack>
  )
}

type PlaceProps = Pick<Props, 'onChoose' | 'editorPath'> & { finding: Finding; mjml: boolean }

function Place({ finding, mjml, onChoose, editorPath }: PlaceProps) {
  if (finding.line === undefined && finding.path !== 'subject') return null
  return (
    <>
      {' '}
      {onChoose ? (
        <Anchor component="button" type="button" inherit underline="always" onClick={() => onChoose({ ...finding })}>
          {locationOf(finding, mjml)}
        </Anchor>
      ) : (
        finding.line !== undefined &&
        editorPath && (
          <Anchor component={Link} to={editorPath} inherit underline="always">
            Line {finding.line} of the flow
          </Anchor>
        )
      )}
    </>
  )
}

function LinkCheck({ links }: { links: string[] }) {
  const check = useMutation({ mutationFn: () => checkLinks(links) })
  return (
    <>
      <div>
        <Button
          size="xs"
          variant="default"
          leftSection={<IconLink size={14} aria-hidden />}
          loading={check.isPending}
          onClick={() => check.mutate()}
        >
          {check.data ? 'Test links again' : `Test ${pluralize(links.length, 'link', 'links')}`}
        </Button>
      </div>
      <ErrorLine>{formProblem(check.error, [])}</ErrorLine>
      {check.data && <LinkResults results={check.data} />}
    </>
  )
}

function LinkResults({ results }: { results: CheckedLink[] }) {
  const working = results.filter(({ status }) => status === 'works')
  const broken = results.filter(({ status }) => status === 'broken')
  const others = results.filter(({ status }) => status === 'unclear' || status === 'skipped')
  return (
    <Stack gap="xs" role="status">
      {broken.length > 0 && (
        <Notice tone="bad" title={`${pluralize(broken.length, 'link does', 'links do')} not work`}>
          <Links results={broken} />
        </Notice>
      )}
      {others.length > 0 && (
        <Notice tone="info" title={`${pluralize(others.length, 'link', 'links')} could not be checked`}>
          <Links results={others} />
        </Notice>
      )}
      {working.length > 0 && (
        <Text size="sm">
          {working.length === results.length
            ? 'All links work.'
            : `${pluralize(working.length, 'link works', 'links work')}.`}
        </Text>
      )}
    </Stack>
  )
}

const Links = ({ results }: { results: CheckedLink[] }) => (
  <List size="sm" spacing={4} mt={4}>
    {results.map(({ url, detail }) => (
      <List.Item key={url} className="break">
        <Anchor href={url} target="_blank" rel="noreferrer" inherit underline="always">
          {url}
        </Anchor>
        : {detail}
      </List.Item>
    ))}
  </List>
)
