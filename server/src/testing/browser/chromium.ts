// A real browser: the machine's Chromium, or the one in an npm package (Linux on x64).
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { type Browser, chromium } from 'playwright-core';

/** The path of the browser, and of a folder with libraries that it needs in addition to those of the machine. */
export type BrowserPlace = { executablePath: string; libraries?: string };

/** Returns the machine's browser, or else the packaged one, or undefined if there is neither. */
export const findBrowser = async (): Promise<BrowserPlace | undefined> =>
  findInstalled() ?? (await findPackaged());

/** Returns the fastest browser: the packaged one cannot draw windows, which halves its time. */
export const findQuickBrowser = async (): Promise<BrowserPlace | undefined> =>
  (await findPackaged()) ?? findInstalled();

async function findPackaged(): Promise<BrowserPlace | undefined> {
  if (process.platform !== 'linux' || process.arch !== 'x64') return undefined;
  // The package unpacks the libraries that a minimal machine lacks only if it seems to run on AWS Lambda.
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

/**
 * The browser sends no traffic of its own. It has no sandbox, because it opens only our own pages and root cannot use a
 * sandbox.
 */
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
