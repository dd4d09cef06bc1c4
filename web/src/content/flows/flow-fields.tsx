import { Collapse, Input, SegmentedControl, Text, TextInput, UnstyledButton } from '@mantine/core'
import { IconChevronDown, IconChevronRight } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import type { Ref } from 'react'
import { sendingQuery } from '../../accounts/settings/settings.api.ts'
import { fieldProblem } from '../../api/api-error.ts'
import type { FlowKind, FlowText, TemplateProblem } from '../../api/types.ts'
import { SenderField } from '../../delivery/domains/sender-field.tsx'
import { CampaignFields } from './campaign-fields.tsx'
import classes from './flow-editor.module.css'
import { kindLabels } from './flow-status.tsx'
import { typedUtm, utmOf } from './utm.ts'

type Props = { draft: FlowText; setDraft: (draft: FlowText) => void; error: unknown }
type SenderProps = Props & { showsSender: boolean; setShowsSender: (shows: boolean) => void }
type FieldsProps = SenderProps & { problems: TemplateProblem[]; subject: Ref<HTMLInputElement> }

const kinds = Object.entries(kindLabels).map(([value, label]) => ({ value, label }))
const meaning: Record<FlowKind, string> = {
  transactional: 'For receipts, resets and other expected emails. Sent to everyone except suppressed addresses.',
  marketing: 'Sent to subscribed contacts only. Waxwing adds an unsubscribe link and header.',
}

export function FlowFields({ problems, subject, ...props }: FieldsProps) {
  const { draft, setDraft, error } = props
  return (
    <div className={classes.fields}>
      <TextInput
        label="Name"
        required
        maxLength={200}
        value={draft.name}
        onChange={(event) => setDraft({ ...draft, name: event.currentTarget.value })}
        error={fieldProblem(error, 'name')}
      />
      <Input.Wrapper
        label="Kind"
        labelElement="div"
        description={meaning[draft.kind]}
        inputWrapperOrder={['label', 'input', 'description']}
      >
        <SegmentedControl
          aria-label="Kind"
          fullWidth
          data={kinds}
          value={draft.kind}
          onChange={(kind) => setDraft({ ...draft, kind: kind as FlowKind })}
        />
      </Input.Wrapper>
      <TextInput
        className={classes.wide ?? ''}
        ref={subject}
        label="Subject"
        required
        value={draft.subject}
        onChange={(event) => setDraft({ ...draft, subject: event.currentTarget.value })}
        error={fieldProblem(error, 'subject') ?? problems.find(({ path }) => path === 'subject')?.problem}
      />
      <TextInput
        className={classes.wide ?? ''}
        label="Preheader (optional)"
        description="The text that inboxes show after the subject. Without it, they show the start of the email."
        maxLength={300}
        value={draft.preheader ?? ''}
        onChange={(event) => setDraft({ ...draft, preheader: event.currentTarget.value || null })}
        error={fieldProblem(error, 'preheader') ?? problems.find(({ path }) => path === 'preheader')?.problem}
      />
      <div className={classes.wide}>
        <Sender {...props} />
      </div>
      <div className={classes.wide}>
        <CampaignFields
          description="Added to the links in the email, for analytics on your site. Links that already have these parameters keep them."
          field={(name) => ({
            value: draft.utm?.[name] ?? '',
            onChange: (event) =>
              setDraft({ ...draft, utm: utmOf({ ...typedUtm(draft.utm), [name]: event.currentTarget.value }) }),
            error: fieldProblem(error, `utm.${name}`),
          })}
        />
      </div>
    </div>
  )
}

function Sender({ draft, setDraft, error, showsSender, setShowsSender }: SenderProps) {
  // A problem that is out of sight would leave a save without an explanation.
  const opened = showsSender || fieldProblem(error, 'from_name', 'from_email', 'reply_to') !== undefined
  const change = (field: 'from_name' | 'reply_to') => (event: { currentTarget: { value: string } }) =>
    setDraft({ ...draft, [field]: event.currentTarget.value || null })
  return (
    <>
      <UnstyledButton onClick={() => setShowsSender(!showsSender)} aria-expanded={opened} fz="sm" fw={500}>
        {opened ? <IconChevronDown size={14} aria-hidden /> : <IconChevronRight size={14} aria-hidden />} Sender{' '}
        <SenderName draft={draft} />
      </UnstyledButton>
      <Collapse expanded={opened}>
        <div className={classes.fields} style={{ paddingTop: 8 }}>
          <TextInput
            label="From name (optional)"
            value={draft.from_name ?? ''}
            onChange={change('from_name')}
            error={fieldProblem(error, 'from_name')}
          />
          <SenderField
            value={draft.from_email}
            onChange={(from_email) => setDraft({ ...draft, from_email })}
            error={fieldProblem(error, 'from_email')}
          />
          <TextInput
            label="Reply-to (optional)"
            type="email"
            value={draft.reply_to ?? ''}
            onChange={change('reply_to')}
            error={fieldProblem(error, 'reply_to')}
          />
        </div>
      </Collapse>
    </>
  )
}

/** Who the email is from, also while the fields are closed. */
function SenderName({ draft: { from_name: name, from_email: email } }: Pick<Props, 'draft'>) {
  const { data: sending } = useQuery(sendingQuery)
  const sender = email ? (name ? `${name} <${email}>` : email) : sending?.mail_from
  if (!sender) return null
  return (
    <Text span size="sm" c="dimmed" fw={400} className="break">
      {sender}
    </Text>
  )
}
