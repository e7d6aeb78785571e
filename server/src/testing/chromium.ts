// A real browser: Chromium of the machine, or the one that an npm package brings (Linux on x64).
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { type Browser, chromium } from 'playwright-core';

/** Where the browser is, and the folder of libraries that it needs beside those of the machine. */
export type BrowserPlace = { executablePath: string; libraries?: string };

/** Returns the browser that people have, if there is one, else the packaged one; undefined where there is neither. */
export const findBrowser = async (): Promise<BrowserPlace | undefined> =>
  findInstalled() ?? (await findPackaged());

/** Returns the browser that takes the least time: the packaged one has no part that draws windows, which halves it. */
export const findQuickBrowser = async (): Promise<BrowserPlace | undefined> =>
  (await findPackaged()) ?? findInstalled();

async function findPackaged(): Promise<BrowserPlace | undefined> {
  if (process.platform !== 'linux' || process.arch !== 'x64') return undefined;
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
