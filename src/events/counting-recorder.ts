import { Counter, type Registry } from 'prom-client'
import { type EventName, eventNames } from '../values/event-types.ts'
import { EventRecorder, type NewEvent } from './record.ts'

/** `emailSent` is recorded with its message and not counted here. */
type CountedName = Exclude<EventName, 'emailSent'>
const countedNames = eventNames.filter((name): name is CountedName => name !== 'emailSent')

/** Counts the events that this process records. A count costs an addition; prom-client is used only for a scrape. */
export class EventCounts {
  readonly #counts = Object.fromEntries(countedNames.map((name) => [name, 0])) as Record<EventName, number>

  constructor(registry: Registry) {
    const counts = this.#counts
    new Counter({
      name: 'waxwing_events_total',
      help: 'Opens, clicks, unsubscriptions, and reported bounces and complaints that this process recorded.',
      labelNames: ['event'],
      registers: [registry],
      collect() {
        this.reset()
        for (const [event, count] of Object.entries(counts)) this.inc({ event }, count)
      },
    })
  }

  add(name: EventName): void {
    this.#counts[name]++
  }
}

/** Counts the events that are new. */
export class CountingRecorder extends EventRecorder {
  readonly #counts: EventCounts

  constructor({ counts, ...parts }: ConstructorParameters<typeof EventRecorder>[0] & { counts: EventCounts }) {
    super(parts)
    this.#counts = counts
  }

  override record(event: NewEvent): Promise<boolean> {
    const recorded = super.record(event)
    recorded.then(
      (isNew) => isNew && this.#counts.add(event.eventName),
      () => {},
    )
    return recorded
  }
}
