// Preloaded into a process under test (NODE_OPTIONS=--require): shifts its wall clock by the milliseconds in the file
// CLOCK_STEP_FILE, which is read repeatedly. Timers and performance.now() are not affected, as when a system clock is
// set.
const { readFileSync } = require('node:fs')

const file = process.env.CLOCK_STEP_FILE
const RealDate = Date
let offset = 0

const read = () => {
  try {
    offset = Number(readFileSync(file, 'utf8')) || 0
  } catch {
    offset = 0
  }
}

if (file) {
  read()
  setInterval(read, 200).unref()
  globalThis.Date = class SteppedDate extends RealDate {
    constructor(...parts) {
      if (parts.length === 0) super(RealDate.now() + offset)
      else super(...parts)
    }
    static now() {
      return RealDate.now() + offset
    }
  }
}
