import {
  ActionIcon,
  Button,
  createTheme,
  Input,
  type MantineColorsTuple,
  Menu,
  Modal,
  PasswordInput,
  Popover,
} from '@mantine/core'
import { PressOnce } from './ui/press-once.tsx'

// One colour per meaning: blue for primary actions, links, focus and selection, red for danger and errors, green for
// success. Contrast, computed by WCAG 2: white on blue 6 is 6.5:1, on blue 5 4.6:1; blue 4 on dark 6 is 6.1:1; white on red
// 6 is 6.0:1; dimmed text is at least 5:1 on every surface, in both themes.
const blue: MantineColorsTuple = [
  '#eef5fc',
  '#d9e8f8',
  '#b3d1f0',
  '#8ab8e6',
  '#7ab0e6',
  '#2f78c0',
  '#1f5fa3',
  '#194e87',
  '#143f6d',
  '#0f2f52',
]

const red: MantineColorsTuple = [
  '#fdf2f1',
  '#f8dedb',
  '#efbab5',
  '#e89a93',
  '#e07a71',
  '#c94940',
  '#b3372f',
  '#962c25',
  '#7a241e',
  '#5e1b17',
]

const slate: MantineColorsTuple = [
  '#f7f9fb',
  '#eff3f7',
  '#e2e8ef',
  '#d2dae4',
  '#bcc6d3',
  '#8b98aa',
  '#566377',
  '#414d60',
  '#2a3444',
  '#18202c',
]

const night: MantineColorsTuple = [
  '#d3dae3',
  '#bac4d0',
  '#9fabbb',
  '#6f7c8e',
  '#3d4858',
  '#303a48',
  '#252d39',
  '#1a212b',
  '#141a22',
  '#0d1117',
]

export const theme = createTheme({
  colors: { blue, red, gray: slate, dark: night },
  primaryColor: 'blue',
  primaryShade: { light: 6, dark: 5 },
  black: '#18202c',
  fontFamily: 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Helvetica Neue", Arial, sans-serif',
  fontFamilyMonospace: 'ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace',
  fontSizes: { xs: '12px', sm: '14px', md: '14px', lg: '16px', xl: '20px' },
  headings: {
    fontWeight: '600',
    sizes: {
      h1: { fontSize: '22px', lineHeight: '1.3' },
      h2: { fontSize: '16px', lineHeight: '1.4' },
      h3: { fontSize: '14px', lineHeight: '1.5' },
    },
  },
  defaultRadius: 'md',
  cursorType: 'pointer',
  respectReducedMotion: true,
  components: {
    ActionIcon: ActionIcon.extend({ defaultProps: { variant: 'subtle', color: 'gray' } }),
    // A link that looks like a button names its own component.
    Button: Button.extend({ defaultProps: { component: PressOnce } }),
    // Most forms consist of required fields: the optional ones are labelled instead.
    InputWrapper: Input.Wrapper.extend({ defaultProps: { withAsterisk: false } }),
    // The placeholder, which takes the focus before the first item, has no role that a menu may contain.
    Menu: Menu.extend({ defaultProps: { shadow: 'md', withInitialFocusPlaceholder: false } }),
    // By default the button that shows the password cannot be reached with the keyboard.
    PasswordInput: PasswordInput.extend({
      defaultProps: {
        visibilityToggleFocusable: true,
        visibilityToggleButtonProps: { 'aria-label': 'Show password' },
      },
    }),
    Popover: Popover.extend({ defaultProps: { shadow: 'md' } }),
    Modal: Modal.extend({
      defaultProps: { centered: true, overlayProps: { backgroundOpacity: 0.5 } },
      styles: { title: { fontSize: '16px', fontWeight: 600 } },
    }),
  },
})
