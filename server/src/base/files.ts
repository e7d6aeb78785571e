// Reading files that may be missing.

/** Returns undefined for a file that doesn't exist, and throws any other error. For `catch` of a promise. */
export function absent(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}
