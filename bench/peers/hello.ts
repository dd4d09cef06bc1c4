import { createServer } from 'node:http'
import { servePeer } from '../support/serve-peer.ts'

// The fastest possible node:http server: answers a GET immediately, and a POST after parsing its body.

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
