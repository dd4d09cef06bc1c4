import { type DestinationStream, type Logger, pino } from 'pino'

export type Log = Logger

const bufferBytes = 4096

/** Logs JSON lines, or readable text to a terminal. Writes are buffered to save a system call per line. */
export async function openLog(level: string, terminal = process.stdout.isTTY): Promise<Log> {
  let destination: DestinationStream
  if (terminal) {
    const { default: pretty } = await import('pino-pretty')
    destination = pretty({ ignore: 'pid,hostname', translateTime: 'HH:MM:ss', sync: true })
  } else {
    destination = pino.destination({ dest: 1, sync: false, minLength: bufferBytes, periodicFlush: 500 })
  }
  return pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, destination)
}
