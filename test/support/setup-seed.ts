import fc from 'fast-check'

// fast-check prints the seed of a property that fails. This one repeats the properties of a whole run.
fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(process.env.TEST_SEED) })
