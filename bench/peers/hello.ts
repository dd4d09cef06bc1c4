import { createServer } from 'node:http'
import { servePeer } from '../support/serve-peer.ts'

// What node:http can do at best: a GET is answered at once, the body of a POST is read and parsed before.

let taken = 0
const answer = JSON.stringify({ hello: 'world' })
const headers = { 'content-type': 'application/json', 'content-length': String(answer.length) }

const create = () =>
  createServer((request, response) => {
    taken++
    if (request.method === 'GET') {
      response.writeHead(200, headers).end(answer)
      return
    }
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      JSON.parse(Buffer.concat(chunks).toString())
      response.writeHead(200, headers).end(answer)
    })
  })

await servePeer(create, () => ({ count: taken }))
