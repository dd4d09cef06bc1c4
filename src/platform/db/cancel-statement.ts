import { connect } from 'node:net'
import type pg from 'pg'

const cancelRequestCode = 80_877_102
const cancelWithinMs = 1_000

/** Not declared by the types of pg. The server sends the numbers at the start of a connection. */
type CancelKey = { host: string; port: number; processID: number | null; secretKey: number | null }

/**
 * Asks the server to cancel the statement that a connection is running. A client that stops waiting does not end the
 * statement: it would keep its locks and a processor. Resolves when the server has taken the request, or after a second:
 * if the server is unreachable, there is nothing to cancel. Sent unencrypted, as psql does; the server accepts it before
 * it negotiates encryption.
 */
export async function cancelStatement(client: pg.ClientBase): Promise<void> {
  const { host, port, processID, secretKey } = client as unknown as CancelKey
  if (processID === null || secretKey === null) return
  const request = Buffer.alloc(16)
  request.writeInt32BE(request.length, 0)
  request.writeInt32BE(cancelRequestCode, 4)
  request.writeInt32BE(processID, 8)
  request.writeInt32BE(secretKey, 12)
  await new Promise<void>((resolve) => {
    const socket = connect(host.startsWith('/') ? { path: `${host}/.s.PGSQL.${port}` } : { host, port })
    const end = () => {
      clearTimeout(timer)
      socket.destroy()
      resolve()
    }
    const timer = setTimeout(end, cancelWithinMs)
    socket.on('connect', () => socket.write(request))
    // The server closes the connection without an answer.
    socket
      .on('data', () => {})
      .on('end', end)
      .on('close', end)
      .on('error', end)
  })
}
