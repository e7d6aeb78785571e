// Access to browser storage. If the browser blocks storage, even reading it throws.

/** Returns the result of `use`, which reads or writes browser storage; undefined if storage is blocked. */
export function withStorage<T>(use: () => T): T | undefined {
  try {
    return use();
  } catch {
    return undefined;
  }
}
