/** Marketing email can be unsubscribed from, transactional email cannot. */
export type FlowKind = 'transactional' | 'marketing'
