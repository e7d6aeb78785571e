// Splits the process's limit of open files between the connections of the HTTP and SFTP listeners.
import { readFileSync } from 'node:fs';

/** The number of files reserved for database connections, threads and the files that requests open. */
const ownFiles = 160;

/** Returns the limit of open files (ulimit -n, as raised by Node), or undefined if it is unknown or unlimited. */
export function maxOpenFiles(): number | undefined {
  try {
    const limits = readFileSync('/proc/self/limits', 'utf8');
    const soft = Number(/^Max open files\s+(\S+)/m.exec(limits)?.[1]);
    return Number.isInteger(soft) ? soft : undefined;
  } catch {
    return undefined; // not on Linux
  }
}

/** Returns the maximum number of HTTP and SFTP connections that leaves enough files for the service itself. */
export function connectionsWithin(openFiles: number): { http: number; sftp: number } {
  const free = Math.max(openFiles - ownFiles, 16);
  return { http: Math.floor((free * 3) / 4), sftp: Math.floor(free / 4) };
}
