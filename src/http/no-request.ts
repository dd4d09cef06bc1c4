import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { errorBody } from './errors.ts'

type Fault = Error & { code?: string }

/** Answers what could not even be read as a request, as every other error is answered, and closes the connection. */
export function answerNoRequest(
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
  // Whatever else it sends: nobody would close the connection for it.
  socket.destroySoon()
}

function meaningOf({ code }: Fault): { status: number; message: string } {
  switch (code) {
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return { status: 408, message: 'The request took too long to arrive.' }
    case 'HPE_HEADER_OVERFLOW':
      return { status: 431, message: 'The headers are larger than they may be.' }
    default:
      return { status: 400, message: 'This is not a request in HTTP.' }
  }
}
