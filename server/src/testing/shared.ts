// Where tests find the real data and third-party test material that are kept beside the project, not in it.
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const folder = new URL('../../../../shared/data/', import.meta.url);

/** The absolute path of a shared file or folder, or undefined where it is absent: skip the test, saying so. */
export function sharedData(path: string): string | undefined {
  const found = fileURLToPath(new URL(path, folder));
  return existsSync(found) ? found : undefined;
}
