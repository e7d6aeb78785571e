// How many files and connections this process may have open at once, and how many of them each listener may take.
import { readFileSync } from 'node:fs';

/** For connections to the database, threads, and the files of those who are served. */
const ownFiles = 160;

/** Returns the limit of open files (ulimit -n, as Node has raised it), or undefined where it is not known or there is none. */
export function mostOpenFiles(): number | undefined {
  try {
    const limits = readFileSync('/proc/self/limits', 'utf8');
    const soft = Number(/^Max open files\s+(\S+)/m.exec(limits)?.[1]);
    return Number.isInteger(soft) ? soft : undefined;
  } catch {
    return undefined; // not on Linux
  }
}

/** Returns how many connections by HTTP and by SFTP there may be, so that files are left for the service itself. */
export function connectionsWithin(openFiles: number): { http: number; sftp: number } {
  const free = Math.max(openFiles - ownFiles, 16);
  return { http: Math.floor((free * 3) / 4), sftp: Math.floor(free / 4) };
}
