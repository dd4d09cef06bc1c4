import { Button, Stack } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useMutation } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { fieldProblems, formProblem } from '../api/api-error.ts'
import { DialogActions } from './dialog-actions.tsx'
import { ErrorLine } from './states.tsx'

type Options<Values, Result> = {
  /** Named like the fields of the request, so that each error of the API is shown at its input. */
  initialValues: Values
  /**
   * Returns the problems that can be found without a request, by the path of their input. After the first attempt, inputs
   * are validated while typing.
   */
  validate?: (values: Values) => Record<string, string | undefined>
  send: (values: Values) => Promise<Result>
  /** Also called if the form was closed before the response arrived. */
  onSuccess?: (result: Result, values: Values) => unknown
  onError?: (error: unknown) => unknown
  /** Not called after the form was closed, so that a cancelled form does not navigate. */
  onSaved?: (result: Result) => void
}

/**
 * A form that is sent with one request. `field(path)` returns the props of an input, which then shows the problem of that
 * path: `schedule.at` and `variants.0.subject` are paths of nested values.
 */
export function useRequestForm<Values extends Record<string, unknown>, Result>(options: Options<Values, Result>) {
  const { initialValues, validate, send, onSuccess, onError, onSaved } = options
  const [isRejected, setRejected] = useState(false)
  const form = useForm<Values>({
    initialValues,
    validate: (values) => validate?.(values) ?? {},
    validateInputOnChange: isRejected,
  })
  const [shownPaths] = useState(() => new Set<string>())
  const request = useMutation({
    mutationFn: send,
    ...(onSuccess && { onSuccess }),
    onError: (error) => {
      form.setErrors(fieldProblems(error))
      return onError?.(error)
    },
  })
  return {
    values: form.values,
    field: ((path, options) => {
      shownPaths.add(String(path))
      return form.getInputProps(path, options)
    }) as typeof form.getInputProps,
    /** Changes some of the values. */
    set: (changes: Partial<Values>) => form.setValues(changes),
    submit: form.onSubmit(
      (values) => request.mutate(values, { ...(onSaved && { onSuccess: onSaved }) }),
      () => setRejected(true),
    ),
    /** Sends the form outside of its submit button. Rejects if the request fails; the inputs then show why. */
    save: (values = form.values) => request.mutateAsync(values),
    sending: request.isPending,
    /** The error that belongs to no input. */
    problem: formProblem(request.error, [...shownPaths]),
    result: request.data,
  }
}

type FormProps = {
  form: Pick<ReturnType<typeof useRequestForm>, 'submit' | 'sending' | 'problem'>
  action: string
  disabled?: boolean
  onCancel: () => void
  children: ReactNode
}

/** The form of a dialog: inputs, the error of the request and two buttons. */
export function DialogForm({ form, action, disabled, onCancel, children }: FormProps) {
  return (
    <form noValidate onSubmit={form.submit}>
      <Stack gap="sm">
        {children}
        <ErrorLine>{form.problem}</ErrorLine>
        <DialogActions>
          <Button variant="default" onClick={onCancel}>
            Cancel
          </Button>
          <Button type="submit" loading={form.sending} disabled={disabled ?? false}>
            {action}
          </Button>
        </DialogActions>
      </Stack>
    </form>
  )
}
