import type { Role } from '../../api/types.ts'

export const roles: Record<Role, string> = { owner: 'Owner', member: 'Member' }
export const roleOptions = Object.entries(roles).map(([value, label]) => ({ value, label }))
