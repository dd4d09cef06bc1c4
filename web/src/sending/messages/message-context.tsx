import type { MessageDetail } from '../../api/types.ts'
import { CodeBlock } from '../../ui/copy.tsx'
import { Section } from '../../ui/section.tsx'
import { Empty } from '../../ui/states.tsx'

/** The variables that the email was sent with. */
export function MessageContext({ message: { context } }: { message: MessageDetail }) {
  const isEmpty = context === null || Object.keys(context).length === 0
  return (
    <Section title="Variables" description="The variables this email was sent with, from context in the API.">
      {isEmpty ? (
        <Empty title={context === null ? 'Not available' : 'No variables'}>
          {context === null ? 'The contact was erased.' : 'The email was sent without variables.'}
        </Empty>
      ) : (
        <CodeBlock code={JSON.stringify(context, null, 2)} label="variables" />
      )}
    </Section>
  )
}
