#!/usr/bin/env node
// Starts the soundings command on a Node that runs TypeScript: this one if it is new enough, else the one
// that was installed with the project.
import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

const command = new URL('../src/cli.ts', import.meta.url);
const [major] = process.versions.node.split('.').map(Number);
if (major >= 24) await import(command);
else {
  const words = [fileURLToPath(command), ...process.argv.slice(2)];
  const { status, signal } = spawnSync(installedNode(), words, { stdio: 'inherit' });
  process.exitCode = status ?? (signal ? 1 : 0);
}

function installedNode() {
  try {
    return createRequire(import.meta.url).resolve('node/bin/node');
  } catch {
    process.stderr.write(
      'soundings needs Node 24 or newer: run "npm ci" in the checkout, or install Node 24.\n',
    );
    process.exit(1);
  }
}
