// The console: warnings about the installation.
import type { Console } from './console.ts';

export function serveSystem(console: Console, forgottenProxy: () => string | undefined): void {
  console.serve('GET /warnings', async () => {
    const address = forgottenProxy();
    return address === undefined ? [] : [{ code: 'forgottenProxy', address }];
  });
}
