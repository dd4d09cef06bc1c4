import { Agent, request } from 'node:http'
import { atEnd } from './cleanup.ts'
import type { Service } from './service.ts'

/** Returns a function that makes a request on a kept connection, and rejects if the response is not 200. */
export function requestsTo({ port }: Pick<Service, 'port'>) {
  const agent = new Agent({ keepAlive: true })
  atEnd(() => agent.destroy())
  return (method: string, path: string, headers: Record<string, string>, body?: object): Promise<void> =>
    new Promise((resolve, reject) => {
      const all = { ...headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) }
      request({ port, host: '127.0.0.1', method, path, agent, headers: all }, (response) => {
        response.resume().once('end', () => {
          if (response.statusCode === 200) resolve()
          else reject(new Error(`${method} ${path}: ${response.statusCode}`))
        })
      })
        .once('error', reject)
        .end(body && JSON.stringify(body))
    })
}
