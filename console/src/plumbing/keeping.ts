// What a browser keeps for a page. Where it keeps nothing, asking alone throws.

/** What `use` makes of localStorage or sessionStorage; undefined where there is none. */
export function keeping<T>(use: () => T): T | undefined {
  try {
    return use();
  } catch {
    return undefined;
  }
}
