// Where tests find real data and third-party test material, which are stored next to the project.
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const folder = new URL('../../../../shared/data/', import.meta.url);

/** Returns the absolute path of a shared file or folder, or undefined if it is absent. Then skip the test, with this reason. */
export function sharedData(path: string): string | undefined {
  const found = fileURLToPath(new URL(path, folder));
  return existsSync(found) ? found : undefined;
}
