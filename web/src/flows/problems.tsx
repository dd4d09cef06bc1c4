import { Anchor, List } from '@mantine/core'
import type { TemplateProblem } from '../api/types.ts'
import { Notice } from '../ui/notice.tsx'

const partNames: Record<string, string> = { html: 'HTML', text: 'Plain text', subject: 'Subject' }

type Props = { problems: TemplateProblem[]; onChoose: (problem: TemplateProblem) => void }

/** What is wrong with the template, each a way to the place where it is wrong. */
export function Problems({ problems, onChoose }: Props) {
  return (
    <div aria-live="polite">
      {problems.length > 0 && (
        <Notice tone="bad" title="This template has a problem">
          <List spacing={4} listStyleType="none">
            {problems.map((problem) => (
              <List.Item key={`${problem.path} ${problem.line} ${problem.column} ${problem.problem}`}>
                <Anchor component="button" type="button" ta="left" onClick={() => onChoose({ ...problem })}>
                  {placeOf(problem)}
                </Anchor>
                : {problem.problem}
              </List.Item>
            ))}
          </List>
        </Notice>
      )}
    </div>
  )
}

function placeOf({ path, line, column }: TemplateProblem): string {
  const part = partNames[path] ?? path
  return line === undefined ? part : `${part}, line ${line}, column ${column ?? 1}`
}
