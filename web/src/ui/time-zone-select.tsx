import { Select, type SelectProps } from '@mantine/core'

const zones = ['UTC', ...Intl.supportedValuesOf('timeZone').filter((zone) => zone !== 'UTC')].map((zone) => ({
  value: zone,
  label: zone.replaceAll('_', ' '),
}))
const zonesMatching = (search: string) => {
  const words = search.toLowerCase().replaceAll('_', ' ').trim()
  return zones.filter(({ label }) => label.toLowerCase().includes(words))
}

/** A searchable list of the IANA time zones. */
export function TimeZoneSelect(props: Omit<SelectProps, 'data'>) {
  return (
    <Select searchable allowDeselect={false} data={zones} filter={({ search }) => zonesMatching(search)} {...props} />
  )
}
