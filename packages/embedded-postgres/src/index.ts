export { type Embedded, startEmbedded } from './embedded.ts'
export { type Connection, EmbeddedFailure } from './failure.ts'
export { openHome } from './home.ts'
export { login, type ServerLog } from './settings.ts'
