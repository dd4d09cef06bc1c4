import { Anchor, List } from '@mantine/core'
import type { TemplateProblem } from '../../api/types.ts'
import { Notice } from '../../ui/notice.tsx'

const partNames: Record<string, string> = { html: 'HTML', text: 'Plain text', subject: 'Subject' }
const mjmlNames: Record<string, string> = { ...partNames, html: 'MJML' }

type Props = { problems: TemplateProblem[]; mjml: boolean; onChoose: (problem: TemplateProblem) => void }

/** The errors in the template, each linked to its place. */
export function Problems({ problems, mjml, onChoose }: Props) {
  return (
    <div aria-live="polite">
      {problems.length > 0 && (
        <Notice
          tone="bad"
          title={problems.length === 1 ? 'This template has an error' : `This template has ${problems.length} errors`}
        >
          <ProblemList problems={problems} mjml={mjml} onChoose={onChoose} />
        </Notice>
      )}
    </div>
  )
}

export function ProblemList({ problems, mjml, onChoose }: Props) {
  return (
    <List spacing={4} listStyleType="none">
      {problems.map((problem) => (
        <List.Item key={`${problem.path} ${problem.line} ${problem.column} ${problem.problem}`} className="break">
          <Anchor component="button" type="button" ta="left" onClick={() => onChoose({ ...problem })}>
            {locationOf(problem, mjml)}
          </Anchor>
          : {problem.problem}
        </List.Item>
      ))}
    </List>
  )
}

/** For example “MJML, line 6, column 3”. */
export function locationOf({ path, line, column }: TemplateProblem, mjml: boolean): string {
  const part = (mjml ? mjmlNames : partNames)[path] ?? path
  return line === undefined ? part : `${part}, line ${line}, column ${column ?? 1}`
}
