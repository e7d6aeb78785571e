// The documents that are written from the code. Run as a program, it writes them; a test fails when they are stale.
import { detailTypes } from '@soundings/contract/problem.ts';
import { readFileSync, writeFileSync } from 'node:fs';
import { settings } from '../base/config.ts';

const docs = new URL('../../../docs/', import.meta.url);

/** The documents by their names in docs/. */
export const documents: Record<string, string> = {
  'configuration.md': configuration(),
  'errors.md': errors(),
};

/** What stands in docs/ now. */
export function writtenDocument(name: string): string {
  return readFileSync(new URL(name, docs), 'utf8');
}

function configuration(): string {
  const rows = settings.map((setting) => {
    const fallback = setting.fallback === '' ? '' : `\`${setting.fallback}\``;
    return `| \`${setting.name}\` | ${fallback} | ${setting.sentence} |`;
  });
  return `# Configuration

Written from \`server/src/base/config.ts\` by \`npm run fix\`.

Settings are read from the environment, once, at the start. Each has a default that works. A faulty one stops the
start with a message that names every fault. Any setting may be given as \`NAME_FILE\` instead, the name of a file that
holds the value, as for a secret that is mounted (\`DATABASE_URL_FILE=/run/secrets/database\`).

| setting | default | what it says |
| --- | --- | --- |
${rows.join('\n')}

The service refuses to listen in plain HTTP on anything but loopback unless \`TRUST_PROXY\` names the proxy in front of
it, or \`ALLOW_PLAIN_HTTP=1\` says that it is meant.

Numbers that customers see (limits, sizes, thresholds) are not configuration: they are part of the interfaces and stand
in \`contract/src/limits.ts\`.
`;
}

function errors(): string {
  const rows = Object.entries(detailTypes).map(([type, meaning]) => `| \`${type}\` | ${meaning} |`);
  return `# Errors

Written from \`contract/src/problem.ts\` by \`npm run fix\`.

Every error of every interface has one body: \`{ "id", "message", "details": [{ "type", "message", … }] }\`. \`id\` is
the id of the request: it is also in the \`x-request-id\` header and in the log, and for an organization request it is the
id of the run. A detail may add \`path\` (a JSON pointer into the body, or the name of a parameter), \`externalId\`, and for
an exceeded limit \`setting\`, \`limit\` and \`count\`. Warnings have the same types.

| type | meaning |
| --- | --- |
${rows.join('\n')}
`;
}

if (import.meta.main) {
  for (const [name, text] of Object.entries(documents)) writeFileSync(new URL(name, docs), text);
}
