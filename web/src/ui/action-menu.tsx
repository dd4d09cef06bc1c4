import { ActionIcon, Menu } from '@mantine/core'
import { type Icon, IconDots } from '@tabler/icons-react'
import { type ReactNode, useState } from 'react'
import { Link } from 'react-router'
import { Confirm, type Question } from './confirm.tsx'

type Action = {
  label: string
  icon?: Icon
  /** Shown in red, after the others. */
  danger?: boolean
} & ({ run: () => void } | { confirm: Question } | { to: string })

type Props = {
  /** Names the button of a table row. Without it, the button belongs to the page. */
  row?: string
  loading?: boolean
  actions: (Action | false)[]
  /** Other items, before the dangerous ones. */
  children?: ReactNode
}

/** The menu of further actions for a page or a table row. It asks for confirmation itself. */
export function ActionMenu({ row, loading = false, actions, children }: Props) {
  const [asking, setAsking] = useState(false)
  const [question, setQuestion] = useState<Question>()
  const ask = (next: Question) => {
    setQuestion(next)
    setAsking(true)
  }
  const items = (danger: boolean) =>
    actions.map(
      (action) =>
        action !== false &&
        (action.danger ?? false) === danger && <Item key={action.label} action={action} ask={ask} />,
    )
  const dangerous = items(true)
  return (
    <>
      <Menu position="bottom-end" {...(row === undefined && { width: 220 })}>
        <Menu.Target>
          {row === undefined ? (
            <ActionIcon size={36} variant="default" aria-label="More actions" loading={loading}>
              <IconDots size={18} aria-hidden />
            </ActionIcon>
          ) : (
            <ActionIcon aria-label={`Actions for ${row}`}>
              <IconDots size={18} aria-hidden />
            </ActionIcon>
          )}
        </Menu.Target>
        <Menu.Dropdown>
          {items(false)}
          {children}
          {dangerous.some(Boolean) && <Menu.Divider />}
          {dangerous}
        </Menu.Dropdown>
      </Menu>
      {question && <Confirm {...question} opened={asking} onClose={() => setAsking(false)} />}
    </>
  )
}

function Item({ action, ask }: { action: Action; ask: (question: Question) => void }) {
  const { label, icon: Icon, danger } = action
  const appearance = {
    ...(Icon && { leftSection: <Icon size={16} aria-hidden /> }),
    ...(danger && { color: 'var(--mantine-color-error)' }),
  }
  if ('to' in action)
    return (
      <Menu.Item {...appearance} component={Link} to={action.to}>
        {label}
      </Menu.Item>
    )
  return (
    <Menu.Item {...appearance} onClick={'run' in action ? action.run : () => ask(action.confirm)}>
      {label}
    </Menu.Item>
  )
}
