/** Groups items by a key, in the order of the keys, so that transactions lock the rows of several groups in one order. */
export function groupBy<Item, Key extends string | number>(
  items: readonly Item[],
  keyOf: (item: Item) => Key,
): [Key, Item[]][] {
  const groups = new Map<Key, Item[]>()
  for (const item of items) {
    const key = keyOf(item)
    const group = groups.get(key)
    if (group) group.push(item)
    else groups.set(key, [item])
  }
  return groups.size === 1 ? [...groups] : [...groups].sort(([a], [b]) => (a < b ? -1 : 1))
}
