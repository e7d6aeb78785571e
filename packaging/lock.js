// Removes from package-lock.json which Node a package needs, where that is newer than the oldest one that may run npm here. `npm ci` would warn
// about each, although that Node never runs them: the project's own Node does (docs/decisions/0042-releases.md). Part of `npm run fix`.
import { readFileSync, writeFileSync } from 'node:fs';

const root = new URL('../', import.meta.url);
const read = (name) => JSON.parse(readFileSync(new URL(name, root), 'utf8'));
/** The major version in package.json, such as 20 of ">=20". */
const oldest = Number(/\d+/.exec(read('package.json').engines.node)?.[0]);

const lock = read('package-lock.json');
for (const one of Object.values(lock.packages)) {
  if (isNewer(one.engines?.node ?? '')) delete one.engines;
}
writeFileSync(new URL('package-lock.json', root), `${JSON.stringify(lock, null, 2)}\n`);

/** Returns whether every alternative of a range, such as "^22.12.0 || >=24", begins with a newer version. */
function isNewer(range) {
  const versions = range.split('||').map((part) => Number(/\d+/.exec(part)?.[0] ?? 0));
  return Math.min(...versions) > oldest;
}
