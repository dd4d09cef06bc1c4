import { connect, type Socket } from 'node:net'
import { join } from 'node:path'

/** Connects to a server whose host is a name, an address or the directory of its Unix socket. */
export const connectToDatabase = ({ host, port }: { host: string; port: number }): Socket =>
  host.startsWith('/') ? connect(join(host, `.s.PGSQL.${port}`)) : connect(port, host)
