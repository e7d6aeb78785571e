// How much processor time processes use. On a busy machine, this can be compared while rates can't.
import { readFileSync } from 'node:fs';

/** In milliseconds: of the service, and of all processes of PostgreSQL. */
export type ProcessorTime = { service: number; database: number };

/** The length of a tick in /proc/PID/stat, in milliseconds. Linux always reports 100 a second. */
const tick = 10;

/**
 * Returns the processor time that a process has used, in milliseconds. `withChildren`: together with its children, those that have ended
 * included. Undefined where the system does not report it (only Linux does).
 */
export function processorTimeOf(pid: number, withChildren = false): number | undefined {
  try {
    // The name of the program, in parentheses, can contain spaces.
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/^.*\) /s, '');
    const [user = 0, system = 0, endedUser = 0, endedSystem = 0] = stat.split(' ').slice(11, 15).map(Number);
    const own = (user + system) * tick;
    if (!withChildren) return own;
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ');
    const running = children.reduce((sum, child) => sum + (processorTimeOf(Number(child)) ?? 0), 0);
    return own + (endedUser + endedSystem) * tick + running;
  } catch {
    return undefined;
  }
}

/** Returns the processor time of the service and of all processes of PostgreSQL. */
export function processorTimes(service: number, postmaster: number): ProcessorTime | undefined {
  const [own, database] = [processorTimeOf(service), processorTimeOf(postmaster, true)];
  return own === undefined || database === undefined ? undefined : { service: own, database };
}
