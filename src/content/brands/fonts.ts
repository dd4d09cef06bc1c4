/**
 * Fonts that readers have installed: emails load none. Names of several words need no quotes in CSS, and quotes would be
 * escaped in templates. The web app uses this file as well, to show a brand before it is saved.
 */
export const fontStacks = {
  system: 'system-ui, -apple-system, Segoe UI, Roboto, Helvetica, Arial, sans-serif',
  arial: 'Arial, Helvetica, sans-serif',
  verdana: 'Verdana, Geneva, sans-serif',
  tahoma: 'Tahoma, Geneva, sans-serif',
  trebuchet: 'Trebuchet MS, Helvetica, sans-serif',
  georgia: 'Georgia, Times, serif',
  times: 'Times New Roman, Times, serif',
  courier: 'Courier New, Courier, monospace',
} as const

export type Font = keyof typeof fontStacks
export const fonts = Object.keys(fontStacks) as Font[]
