// The memory of a process, and of PostgreSQL's processes.
import { readFileSync, writeFileSync } from 'node:fs';

/** In bytes. Undefined where the system does not report it (only Linux does). */
export type Memory = {
  /** Resident memory of the process now. */
  now(): number | undefined;
  /** Starts watching. The returned function returns the peak of the process and of all PostgreSQL processes. */
  watch(): () => { own: number; database: number } | undefined;
};

export const firstNumber = (file: string) => Number.parseInt(readFileSync(file, 'utf8'), 10);

/** `postmasterFile`: the file with the process ID of PostgreSQL. */
export function memoryOf(pid: number, postmasterFile: string): Memory {
  const now = () => statusOf(pid, 'VmRSS');
  const database = () => {
    const postmaster = firstNumber(postmasterFile);
    const backends = readFileSync(`/proc/${postmaster}/task/${postmaster}/children`, 'utf8').split(' ');
    // Without shared buffers, which would be counted for each process.
    return backends.reduce((sum, backend) => sum + (statusOf(Number(backend), 'RssAnon') ?? 0), 0);
  };
  return {
    now,
    watch() {
      if (now() === undefined) return () => undefined;
      const isReset = resetPeak(pid);
      const peak = { own: 0, database: 0 };
      let ticks = 0;
      const sample = () => {
        // The peak is sampled as well, because it is lost when the process ends.
        peak.own = Math.max(peak.own, statusOf(pid, isReset ? 'VmHWM' : 'VmRSS') ?? 0);
        if (ticks++ % 10 === 0) peak.database = Math.max(peak.database, database());
      };
      const timer = setInterval(sample, isReset ? 100 : 10);
      return () => {
        clearInterval(timer);
        sample();
        return peak;
      };
    },
  };
}

/** Resets the peak on Linux (5, see proc(5)). Not every system allows it. */
function resetPeak(pid: number): boolean {
  try {
    writeFileSync(`/proc/${pid}/clear_refs`, '5');
    return true;
  } catch {
    return false;
  }
}

/** Returns a line of /proc/PID/status in bytes. A process that is ending has no memory lines. */
function statusOf(pid: number, name: string): number | undefined {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    const [, size] = new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status) ?? [];
    return size === undefined ? undefined : Number(size) * 1024;
  } catch {
    return undefined;
  }
}
