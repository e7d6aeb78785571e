// Reads ids in URLs. Pure.

/** Returns the id in a part of a URL, or 0, which isn't a valid id. */
export const idIn = (text: string): number => (/^[1-9]\d{0,8}$/.test(text) ? Number(text) : 0);

/** Shortens ids in ascending order: "3-17 20 22-23". */
export function rangesOf(ids: readonly number[]): string {
  const ranges: [number, number][] = [];
  for (const id of ids) {
    const last = ranges.at(-1);
    if (last && last[1] === id - 1) last[1] = id;
    else ranges.push([id, id]);
  }
  return ranges.map(([first, last]) => (first === last ? `${first}` : `${first}-${last}`)).join(' ');
}
