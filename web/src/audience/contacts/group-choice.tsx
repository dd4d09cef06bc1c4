import { Select } from '@mantine/core'
import { useState } from 'react'
import type { Group } from '../../api/types.ts'

/** A group that exists, or the name of one to create. */
export type ChosenGroup = { id: string } | { name: string }

type Props = {
  label: string
  description: string
  groups: Group[]
  chosen: ChosenGroup | null
  onChange: (chosen: ChosenGroup | null) => void
}

const newPrefix = 'new:'
const toValue = (chosen: ChosenGroup | null): string | null =>
  chosen && ('id' in chosen ? chosen.id : newPrefix + chosen.name)

/** A name that no group has is offered as a group to create. Leaving the field chooses what was typed. */
export function GroupChoice({ label, description, groups, chosen, onChange }: Props) {
  const [typed, setTyped] = useState('')
  const name = typed.trim()
  const isNew = name !== '' && !findByName(groups, name)
  const newNames = new Set([...(chosen && 'name' in chosen ? [chosen.name] : []), ...(isNew ? [name] : [])])
  const choose = (value: string | null) =>
    onChange(!value ? null : value.startsWith(newPrefix) ? { name: value.slice(newPrefix.length) } : { id: value })
  return (
    <Select
      label={label}
      description={description}
      placeholder="No group"
      nothingFoundMessage="Type a name to create a group."
      clearable
      searchable
      selectFirstOptionOnChange
      maw={420}
      data={[
        ...groups.map((group) => ({ value: group.id, label: group.name })),
        ...[...newNames].map((each) => ({ value: newPrefix + each, label: each })),
      ]}
      renderOption={({ option }) =>
        option.value.startsWith(newPrefix) ? `Create group “${option.label}”` : option.label
      }
      value={toValue(chosen)}
      onChange={choose}
      searchValue={typed}
      onSearchChange={setTyped}
      onBlur={() => {
        const group = findByName(groups, name)
        if (name !== '') onChange(group ? { id: group.id } : { name })
      }}
    />
  )
}

export const findByName = (groups: Group[], name: string) =>
  groups.find((group) => group.name.toLowerCase() === name.toLowerCase())
