/** Like `Promise.withResolvers`, which Node.js 20 lacks: a promise that the test resolves. */
export function withResolvers<Value = void>(): { promise: Promise<Value>; resolve: (value: Value) => void } {
  let resolve: (value: Value) => void = () => {}
  const promise = new Promise<Value>((done) => {
    resolve = done
  })
  return { promise, resolve }
}
