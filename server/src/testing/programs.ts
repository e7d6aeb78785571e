// Programs of the machine that some tests try the service with. Tests whose program is missing are skipped by the name of its
// Debian package.
import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'vitest';

const directories = ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin'];
/** As PATH. */
export const searchPath = directories.join(':');

/** Skips the test unless the program is there. */
export function needs({ skip }: TestContext, program: string, debianPackage: string): void {
  if (!has(program)) skip(`SKIPPED: needs ${program} (Debian: ${debianPackage})`);
}

export function has(program: string): boolean {
  return directories.some((directory) => {
    try {
      accessSync(join(directory, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
