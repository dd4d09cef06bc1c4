import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { isIPv4 } from 'node:net'

/** The addresses of a name, or how the server fails. A buffer is sent unchanged after the id of the query. */
export type NameAnswer = string[] | 'no such name' | 'failure' | 'silence' | Buffer

/** Other records of a name: TXT records, MX records such as `10 mx.example.com`, and the name that it is an alias of. */
export type OtherRecords = { txt?: string[]; mx?: string[]; cname?: string }

const headerBytes = 12
const typeA = 1
const typeCname = 5
const typeMx = 15
const typeTxt = 16

/** A real name server for tests: answers A, AAAA, TXT, MX and CNAME queries over UDP on loopback. */
export async function startNameServer(
  answer: (name: string) => NameAnswer,
  others: (name: string) => OtherRecords = () => ({}),
) {
  const queries: string[] = []
  const socket = createSocket('udp4')
  socket.on('message', (query, from) => {
    const { name, type, end } = readQuestion(query)
    if (type === typeA) queries.push(name)
    const answered = answer(name)
    if (answered === 'silence') return
    if (Buffer.isBuffer(answered)) {
      socket.send(Buffer.concat([query.subarray(0, 2), answered]), from.port, from.address)
      return
    }
    const failed = answered === 'no such name' ? 3 : answered === 'failure' ? 2 : 0
    const records = failed ? [] : recordsOf(type, answered as string[], others(name))
    const header = Buffer.alloc(headerBytes)
    query.copy(header, 0, 0, 2) // the id of the query
    header.writeUInt16BE(0x8180 | failed, 2)
    header.writeUInt16BE(1, 4)
    header.writeUInt16BE(records.length, 6)
    socket.send(Buffer.concat([header, query.subarray(headerBytes, end), ...records]), from.port, from.address)
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  return {
    /** The requested names, one entry per lookup. */
    queries,
    address: `127.0.0.1:${socket.address().port}`,
    async [Symbol.asyncDispose]() {
      await new Promise<void>((resolve) => socket.close(resolve))
    },
  }
}

function readQuestion(query: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = []
  let at = headerBytes
  for (let length = query[at]!; length > 0; length = query[at]!) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length))
    at += 1 + length
  }
  return { name: labels.join('.').toLowerCase(), type: query.readUInt16BE(at + 1), end: at + 5 }
}

function recordsOf(type: number, addresses: string[], { txt = [], mx = [], cname }: OtherRecords): Buffer[] {
  if (type === typeTxt) return txt.map((text) => record(type, textBytes(text)))
  if (type === typeCname) return cname ? [record(type, nameBytes(cname))] : []
  if (type === typeMx) return mx.map((text) => record(type, exchangerBytes(text)))
  return addresses
    .filter((address) => isIPv4(address) === (type === typeA))
    .map((address) => record(type, Buffer.from(isIPv4(address) ? address.split('.').map(Number) : ipv6Bytes(address))))
}

/** Returns a record of the requested name. */
function record(type: number, data: Buffer): Buffer {
  const head = Buffer.from([0xc0, headerBytes, 0, type, 0, 1, 0, 0, 0, 0, 0, 0])
  head.writeUInt16BE(data.length, 10)
  return Buffer.concat([head, data])
}

/** Splits into strings of at most 255 bytes, as required by DNS. */
function textBytes(text: string): Buffer {
  const strings = text.match(/.{1,255}/g) ?? ['']
  return Buffer.concat(strings.flatMap((string) => [Buffer.from([string.length]), Buffer.from(string)]))
}

function exchangerBytes(text: string): Buffer {
  const [priority, host] = text.split(' ')
  return Buffer.concat([Buffer.from([0, Number(priority)]), nameBytes(host!)])
}

function nameBytes(name: string): Buffer {
  const labels = name.split('.').flatMap((label) => [Buffer.from([label.length]), Buffer.from(label)])
  return Buffer.concat([...labels, Buffer.from([0])])
}

function ipv6Bytes(address: string): number[] {
  const [head = '', tail = ''] = address.split('::')
  const groups = (text: string) => (text ? text.split(':').map((group) => Number.parseInt(group, 16)) : [])
  const [before, after] = [groups(head), groups(tail)]
  const all = [...before, ...Array<number>(8 - before.length - after.length).fill(0), ...after]
  return all.flatMap((group) => [group >> 8, group & 0xff])
}
