import { expect, test } from 'vitest'
import { ApiError, fieldProblem, fieldProblems, formProblem } from '../../web/src/api/api-error.ts'

const rejected = (...fields: { path: string; problem: string }[]) =>
  new ApiError(422, { message: 'Invalid request.', error: { type: 'validation_failed', fields } })

test('a problem of the API becomes a sentence that names its field', () => {
  const error = rejected(
    { path: 'organization_name', problem: 'must not be empty' },
    { path: 'url', problem: 'must start with https://' },
    { path: 'email', problem: 'A contact with this email already exists.' },
  )
  expect(fieldProblems(error)).toEqual({
    organization_name: 'Organization name must not be empty.',
    url: 'URL must start with https://.',
    email: 'A contact with this email already exists.',
  })
  expect(fieldProblem(error, 'url')).toBe('URL must start with https://.')
  expect(fieldProblem(error, 'name')).toBeUndefined()
})

test('a form shows the problems that no input shows, or else the message', () => {
  const error = rejected({ path: 'name', problem: 'is required' }, { path: 'role', problem: 'must be member' })
  expect(formProblem(error, ['name'])).toBe('Role must be member.')
  expect(formProblem(error, ['name', 'role'])).toBeUndefined()
  expect(formProblem(rejected(), ['name'])).toBe('Invalid request.')
  expect(formProblem(new Error('Connection lost.'))).toBe('Connection lost.')
  expect(formProblem(null)).toBeUndefined()
})
