import { Button, type ButtonProps, Stack, Text, TextInput } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { formProblem } from '../api/api-error.ts'
import { Dialog } from './dialog.tsx'
import { DialogActions } from './dialog-actions.tsx'
import { ErrorLine } from './states.tsx'

export type Question = {
  title: string
  children: ReactNode
  action: string
  /** For actions that “Cancel” could be confused with. */
  dismiss?: string
  /** For actions that cannot be undone: the user has to type this text first. */
  typed?: string
  run: () => Promise<unknown>
}
type Props = Question & { opened: boolean; onClose: () => void }

/** Asks for confirmation. Stays open and shows the error if the action fails. */
export function Confirm({ opened, onClose, title, children, action, dismiss = 'Cancel', typed, run }: Props) {
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>()
  const [text, setText] = useState('')

  const close = () => {
    setError(undefined)
    setText('')
    onClose()
  }
  const confirm = async () => {
    setBusy(true)
    setError(undefined)
    try {
      await run()
      close()
    } catch (problem) {
      setError(problem)
    } finally {
      setBusy(false)
    }
  }

  return (
    <Dialog opened={opened} onClose={close} title={title}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          // The button may be part of another form.
          event.stopPropagation()
          void confirm()
        }}
      >
        <Stack gap="md">
          <Text component="div">{children}</Text>
          {typed !== undefined && (
            <TextInput
              label={`Type “${typed}” to confirm`}
              value={text}
              onChange={(event) => setText(event.currentTarget.value)}
              autoComplete="off"
              data-autofocus
            />
          )}
          <ErrorLine>{formProblem(error)}</ErrorLine>
          <DialogActions>
            <Button variant="default" onClick={close}>
              {dismiss}
            </Button>
            <Button type="submit" color="red" loading={busy} disabled={typed !== undefined && text !== typed}>
              {action}
            </Button>
          </DialogActions>
        </Stack>
      </form>
    </Dialog>
  )
}

type ConfirmButtonProps = ButtonProps & { confirm: Question; 'aria-label'?: string; children: ReactNode }

/** A button that asks for confirmation. */
export function ConfirmButton({ confirm, ...props }: ConfirmButtonProps) {
  const [asking, setAsking] = useState<boolean>()
  return (
    <>
      <Button variant="default" {...props} onClick={() => setAsking(true)} />
      {/* Not before it is needed: a table has many of these buttons. */}
      {asking !== undefined && <Confirm {...confirm} opened={asking} onClose={() => setAsking(false)} />}
    </>
  )
}
