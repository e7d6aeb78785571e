// A real browser. On Linux and x64 it is the Chromium that an npm package brings: without the parts that draw windows, it takes
// half the time of the machine's own, which is used elsewhere.
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { type Browser, chromium } from 'playwright-core';

/** Where the browser is, and the folder of libraries that it needs beside those of the machine. */
export type BrowserPlace = { executablePath: string; libraries?: string };

/** Finds or unpacks it; undefined where there is none. */
export async function findBrowser(): Promise<BrowserPlace | undefined> {
  if (process.platform !== 'linux' || process.arch !== 'x64') return findInstalled();
  // It unpacks the libraries that a bare machine lacks where it takes itself to be on Lambda.
  process.env['AWS_LAMBDA_JS_RUNTIME'] = 'nodejs22.x';
  const { default: packaged } = await import('@sparticuz/chromium');
  return { executablePath: await packaged.executablePath(), libraries: join(tmpdir(), 'al2023', 'lib') };
}

function findInstalled(): BrowserPlace | undefined {
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  const names = ['chromium', 'chromium-browser', 'google-chrome'];
  const found = folders.flatMap((folder) => names.map((name) => join(folder, name))).find(existsSync);
  return found === undefined ? undefined : { executablePath: found };
}

/** No traffic of its own, and no sandbox: it sees our own pages alone, and root has none. */
const quiet = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

export async function launchBrowser({ executablePath, libraries }: BrowserPlace): Promise<Browser> {
  if (libraries === undefined) return chromium.launch({ executablePath, args: quiet });
  const path = [libraries, process.env['LD_LIBRARY_PATH']].filter(Boolean).join(delimiter);
  const env = { ...process.env, LD_LIBRARY_PATH: path } as Record<string, string>;
  return chromium.launch({ executablePath, args: [...quiet, '--headless=shell'], env });
}
