import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { errorBody } from './errors.ts'

type Fault = Error & { code?: string }

/** Responds to a malformed request with the usual error envelope and closes the connection. */
export function answerMalformedRequest(
  error: Fault,
  socket: Socket,
  requestId: string,
  headers: Readonly<Record<string, string>>,
): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy(error)
    return
  }
  const { status, message } = meaningOf(error)
  const body = JSON.stringify(errorBody(status, 'invalid_request', message, [], requestId))
  const lines = Object.entries({
    ...headers,
    'x-request-id': requestId,
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(body),
    connection: 'close',
  }).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.write(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`)
  // Otherwise the connection would stay open if the client keeps sending.
  socket.destroySoon()
}

function meaningOf({ code }: Fault): { status: number; message: string } {
  switch (code) {
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return { status: 408, message: 'The request took too long to arrive.' }
    case 'HPE_HEADER_OVERFLOW':
      return { status: 431, message: 'The URL and the headers of the request have more than 16 KiB.' }
    default:
      return { status: 400, message: 'Malformed HTTP request.' }
  }
}
