import { useComputedColorScheme, useMantineColorScheme } from '@mantine/core'

/** Follows the system until the user chooses a theme, which is stored in this browser. */
export function useTheme(): { dark: boolean; toggle: () => void } {
  const { setColorScheme } = useMantineColorScheme()
  const dark = useComputedColorScheme('light') === 'dark'
  return { dark, toggle: () => setColorScheme(dark ? 'light' : 'dark') }
}
