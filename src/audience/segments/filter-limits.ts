export const depthMax = 4
export const conditionsMax = 50
export const filterBytesMax = 16 * 1024
/** Levels of segments that name other segments, and the conditions in a segment and all segments that it names. */
export const nestedSegmentsMax = 3
export const resolvedConditionsMax = 200
