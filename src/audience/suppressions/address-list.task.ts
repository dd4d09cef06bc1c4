import { defineTask } from '../../platform/tasks/task.ts'
import { readAddressList } from './address-list.ts'

/** Reads a pasted list of addresses. */
export const readAddressListTask = defineTask({
  name: 'contacts.suppressions',
  title: 'Reading this list',
  msMax: 10_000,
  run: readAddressList,
})
