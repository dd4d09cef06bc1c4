import fc from 'fast-check'
import { seedOfRun } from './seeded.ts'

// fast-check prints the seed of a property that fails. This one repeats the properties of a whole run.
fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: seedOfRun() })
