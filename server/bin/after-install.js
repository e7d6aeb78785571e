// Runs when npm has installed the package. Removes the C headers of the Node that npm installed with it: they are for compiling add-ons, which
// Soundings doesn't do, and a third of that Node's size (docs/decisions/0047-size-of-the-package.md). Without this, the package is just larger.
import { rmSync } from 'node:fs';

const { platform, arch } = process;
// Only in our own folder: elsewhere, another package may use the same Node.
const headers = new URL(`../../node_modules/node-${platform}-${arch}/include`, import.meta.url);
try {
  rmSync(headers, { recursive: true, force: true });
} catch (error) {
  process.stderr.write(`The C headers of Node could not be removed: ${error.message}\n`);
}
