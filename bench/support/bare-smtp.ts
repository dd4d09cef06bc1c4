import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

const offer = 'MAIL FROM:<shop@example.com>\r\nRCPT TO:<ada@example.com>\r\nDATA\r\n'

/** Sends one email repeatedly with pipelining (RFC 2920): the envelope at once, the content after the reply. */
export class BareSmtp {
  readonly #sockets: Socket[]
  readonly #content: string

  private constructor(sockets: Socket[], content: string) {
    this.#sockets = sockets
    this.#content = `${content}\r\n.\r\n`
  }

  static async open(port: number, connections: number, content: string): Promise<BareSmtp> {
    const sockets = Array.from({ length: connections }, () => connect({ port, host: '127.0.0.1', noDelay: true }))
    for (const socket of sockets) {
      await once(socket, 'data')
      socket.write('EHLO bench\r\n')
      await once(socket, 'data')
    }
    return new BareSmtp(sockets, content)
  }

  async send(count: number): Promise<void> {
    let left = count
    await Promise.all(this.#sockets.map((socket) => this.#sendOn(socket, () => left-- > 0)))
  }

  close(): void {
    for (const socket of this.#sockets) socket.destroy()
  }

  #sendOn(socket: Socket, another: () => boolean): Promise<void> {
    if (!another()) return Promise.resolve()
    return new Promise((resolve) => {
      let last = ''
      const read = (chunk: Buffer) => {
        last = (last + chunk.toString('latin1')).slice(-80)
        if (last.endsWith('354 Go ahead\r\n')) {
          last = ''
          socket.write(this.#content)
        } else if (/queued as \d+\r\n$/.test(last)) {
          last = ''
          if (another()) return void socket.write(offer)
          socket.off('data', read)
          resolve()
        }
      }
      socket.on('data', read)
      socket.write(offer)
    })
  }
}
