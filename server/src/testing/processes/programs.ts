// Programs of the machine that some tests use with the service. If one is missing, its tests are skipped, with the name of its
// Debian package as the reason.
import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'vitest';

const directories = ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin'];
/** Directories, in the format of PATH. */
export const searchPath = directories.join(':');

/** Skips the test if the program is missing. */
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
