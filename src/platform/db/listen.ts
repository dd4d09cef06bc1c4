import pg from 'pg'

const relistenDelayMs = 1_000

export type Listening = {
  /** False while the connection is lost. */
  isActive(): boolean
  stop(): Promise<void>
}

/** Calls `heard` for each notification until it is stopped. Reconnects if the connection is lost. */
export async function listen(
  settings: pg.ClientConfig,
  channel: string,
  heard: (payload: string) => void,
): Promise<Listening> {
  let client: pg.Client | undefined
  let timer: NodeJS.Timeout | undefined
  let stopped = false

  const connect = async () => {
    if (stopped) return
    const next = new pg.Client(settings)
    let isReplaced = false
    // If the connection is lost during `listen`, both the query and `end` report it; reconnect only once.
    const reconnect = () => {
      if (isReplaced) return
      isReplaced = true
      if (client === next) client = undefined
      if (!stopped) timer = setTimeout(connect, relistenDelayMs)
    }
    next.on('error', () => {})
    next.on('notification', ({ payload }) => heard(payload ?? ''))
    try {
      await next.connect()
      next.once('end', reconnect)
      await next.query(`listen ${next.escapeIdentifier(channel)}`)
      client = next
      if (stopped) await next.end()
    } catch {
      // Notifications are hints. Listeners also poll, so a missed one only adds latency.
      next.end().catch(() => {})
      reconnect()
    }
  }
  await connect()

  return {
    isActive: () => client !== undefined,
    stop: async () => {
      stopped = true
      clearTimeout(timer)
      await client?.end().catch(() => {})
    },
  }
}
