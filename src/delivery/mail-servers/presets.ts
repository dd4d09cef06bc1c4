import type { Preset } from './preset.ts'
import { presets } from './preset-list.ts'

const byId = new Map(presets.map((preset) => [preset.id, preset]))

export const findPreset = (id: string | null): Preset | undefined => (id === null ? undefined : byId.get(id))
