// A process of its own that has an embedded database open, for tests that end it in good and in bad ways: prints
// the address, stops when its input ends.
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
