import { type ChildProcess, fork } from 'node:child_process'
import { type Reply, type Request, toReply } from './protocol.ts'

const stderrCharsMax = 2_000
/** How V8 terminates a process that is out of memory or allocates an array beyond its limits: abort or trap. */
const outOfMemoryExits: readonly unknown[] = ['SIGABRT', 'SIGTRAP', 'SIGILL', 134, 133, 132]

export type Outcome =
  | Exclude<Reply, { kind: 'ready' }>
  | { kind: 'timedOut' }
  | { kind: 'outOfMemory' }
  | { kind: 'died'; reason: string }

/** How Node refuses to start with the flags, for example because packages are stored elsewhere. */
const unusable = /ERR_ACCESS_DENIED|bad option/

export type TaskChildOptions = {
  file: string
  memoryMbMax: number
  /** `flags`: empty once a process could not start with them. */
  permissions: { flags: readonly string[] }
}

/** One child process that runs one task at a time. A child that exceeds a limit is killed and never used again. */
export class TaskChild {
  #child: ChildProcess
  #isReady = false
  readonly #ready: Promise<void>
  #stderr = ''
  #settle: ((outcome: Outcome) => void) | undefined
  #exitedAs: Outcome | undefined
  #onReady = () => {}

  constructor(options: TaskChildOptions) {
    this.#ready = new Promise((resolve) => {
      this.#onReady = resolve
    })
    this.#child = this.#start(options)
    this.#unref()
  }

  #start(options: TaskChildOptions): ChildProcess {
    const { file, memoryMbMax, permissions } = options
    const { flags } = permissions
    const child = fork(file, {
      execArgv: [`--max-old-space-size=${memoryMbMax}`, ...flags],
      // Tasks handle hostile input, so they get no settings or secrets.
      env: {},
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    })
    child.stderr!.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr = (this.#stderr + text).slice(-stderrCharsMax)
    })
    child.on('message', (reply: Reply) => {
      if (reply.kind !== 'ready') return this.#end(reply)
      this.#isReady = true
      this.#onReady()
    })
    child.on('error', (error) => this.#exit({ kind: 'died', reason: error.message }))
    // `close` instead of `exit`, because stderr is complete by then.
    child.on('close', (code, signal) => {
      const end = signal ?? code
      if (flags.length > 0 && !this.#isReady && !this.#exitedAs && unusable.test(this.#stderr)) {
        permissions.flags = []
        process.emitWarning(`Task processes run without the permission model of Node.js: ${this.#stderr.trim()}`)
        this.#child = this.#start(options)
        if (!this.#settle) this.#unref()
        return
      }
      this.#exit(
        outOfMemoryExits.includes(end)
          ? { kind: 'outOfMemory' }
          : { kind: 'died', reason: `exit ${end}: ${this.#stderr.trim()}` },
      )
    })
    return child
  }

  get isUsable(): boolean {
    return !this.#exitedAs
  }

  /** Never throws. The time limit starts once the process has loaded its modules. */
  async run(request: Request, msMax: number): Promise<Outcome> {
    this.#ref()
    const outcome = new Promise<Outcome>((resolve) => {
      this.#settle = resolve
    })
    await this.#ready
    const timer = setTimeout(() => this.#exit({ kind: 'timedOut' }), msMax)
    try {
      if (this.#exitedAs) this.#end(this.#exitedAs)
      else
        this.#child.send(request, (error) => {
          if (error) this.#exit({ kind: 'died', reason: error.message })
        })
      return await outcome
    } catch (error) {
      // The input cannot be copied, for example because it is nested too deeply.
      this.#settle = undefined
      return toReply(error)
    } finally {
      clearTimeout(timer)
      this.#unref()
    }
  }

  kill(): void {
    this.#exit({ kind: 'died', reason: 'stopped' })
  }

  #end(outcome: Outcome): void {
    this.#settle?.(outcome)
    this.#settle = undefined
  }

  #exit(outcome: Outcome): void {
    this.#exitedAs ??= outcome
    this.#onReady()
    this.#end(this.#exitedAs)
    this.#child.kill('SIGKILL')
  }

  // An idle child process must not keep the service alive.
  #unref(): void {
    this.#child.unref()
    this.#child.channel?.unref()
    ;(this.#child.stderr as unknown as { unref?: () => void }).unref?.()
  }

  #ref(): void {
    this.#child.ref()
    this.#child.channel?.ref()
  }
}
