// A separate process that opens an embedded database, for tests that stop or kill it. It prints the address, and ends when its
// input ends.
import { openEmbedded } from './embedded.ts';

const [dataDir = '', role = 'service'] = process.argv.slice(2);
try {
  const embedded = await openEmbedded(dataDir, {
    role: role === 'command' ? 'command' : 'service',
    log: () => {},
    fast: true,
  });
  process.stdout.write(`${embedded.url}\n`);
  process.stdin.resume().once('end', () => {
    void embedded.stop();
  });
} catch (error) {
  process.stderr.write(`${String(error)}\n`);
  process.exitCode = 1;
}
