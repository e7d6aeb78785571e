// Generates the documents that come from the code. Run it as a program to write them. A test fails if they are out of date.
import { detailTypes } from '@soundings/contract/problem.ts';
import { readFileSync, writeFileSync } from 'node:fs';
import { settings } from '../../base/settings/settings.ts';
import { tracingSettings } from '../../base/tracing/tracing-settings.ts';
import { type ErrorExample, readExamples } from '../../http/reference/examples.ts';
import { consoleRoutes, interfaceRoutes, otherRoutes } from './routes.ts';

const docs = new URL('../../../../docs/', import.meta.url);

/** The documents, by path in docs/. */
export const documents: Record<string, string> = {
  'operators/configuration.md': configuration(),
  'integrators/errors.md': errors(),
  'routes.md': routes(),
};

/** Returns the current content of a document in docs/. */
export function writtenDocument(name: string): string {
  return readFileSync(new URL(name, docs), 'utf8');
}

function configuration(): string {
  const rowsOf = (table: readonly { name: string; fallback: string; sentence: string }[]) =>
    table
      .map(({ name, fallback, sentence }) => {
        const shown = fallback === '' ? '' : `\`${fallback}\``;
        return `| \`${name}\` | ${shown} | ${sentence} |`;
      })
      .join('\n');
  return `# Configuration

Generated from \`server/src/base/settings/settings.ts\` and \`server/src/base/tracing/tracing-settings.ts\` by \`npm run fix\`.

Settings are environment variables, read once at the start. Every setting has a working default. If any is invalid, the
service doesn't start and lists all errors. Instead of any setting you can set \`NAME_FILE\` to a file that contains the
value, for example a mounted secret (\`DATABASE_URL_FILE=/run/secrets/database\`).

| setting | default | meaning |
| --- | --- | --- |
${rowsOf(settings)}

The service refuses to listen over plain HTTP on any address other than loopback, unless \`TRUST_PROXY\` names the proxy in
front of it or you allow it with \`ALLOW_PLAIN_HTTP=1\`.

## Traces

The names and values are those of [OpenTelemetry](https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/). Other
variables that begin with OTEL_ have no effect. [monitoring.md](monitoring.md#traces) says what is traced, and what never is.

| setting | default | meaning |
| --- | --- | --- |
${rowsOf(tracingSettings)}

## Limits

Numbers that customers see (limits, sizes, thresholds) can't be configured. They are part of the interfaces, in
\`contract/src/limits.ts\`.
`;
}

function errors(): string {
  const { errors: examples } = readExamples();
  const cell = (text: string) => text.replaceAll('|', '\\|').replaceAll('\n', ' ');
  const all = Object.entries(detailTypes);
  const rows = all.flatMap(([type, meaning]) => {
    const example = examples[type];
    return example
      ? [`| \`${type}\` | ${meaning} | ${example.response.status} | ${cell(messageOf(type, example))} |`]
      : [];
  });
  const others = all.filter(([type]) => !examples[type]);
  return `# Errors

Generated from \`contract/src/problem.ts\` and the examples of the API reference by \`npm run fix\`.

All errors of all interfaces have the same body: \`{ "id", "message", "details": [{ "type", "message", … }] }\`. \`id\` is
the ID of the request. It is also in the \`x-request-id\` header and in the log, and for an organization request it is the
ID of the run. A detail can have a \`path\` (a JSON pointer into the body, or the name of a parameter), an \`externalId\`,
and for an exceeded limit \`setting\`, \`limit\` and \`count\`. Warnings use the same types.

## Errors of the interfaces

The messages are from real responses. Your installation shows each request and response at \`/docs/errors\`. A status of 200 means
that the type is in a report. SCIM has its own body (RFC 7644 §3.12), with the message as its \`detail\`.

| type | meaning | status | example of a message |
| --- | --- | --- | --- |
${rows.join('\n')}

## Errors of the console and the command

| type | meaning |
| --- | --- |
${others.map(([type, meaning]) => `| \`${type}\` | ${meaning} |`).join('\n')}
`;
}

/** Returns the message of an error or a warning in its example. */
function messageOf(type: string, { response }: ErrorExample): string {
  type Found = { type: string; message: string };
  const body = response.body as { detail?: string; details?: Found[]; warnings?: Found[] };
  const found = [...(body.details ?? []), ...(body.warnings ?? [])].find((one) => one.type === type);
  return found?.message ?? body.detail ?? '';
}

function routes(): string {
  const cell = (text: string) => text.replaceAll('|', '\\|');
  return `# Routes

Generated from \`contract/src\` and \`server/src\` by \`npm run fix\`. Files are in \`server/src\`. \`app.routes.ts\` connects them.

## Interfaces

Requests have a token with the scope. [Interfaces](integrators/interfaces.md) describes them.

| route | what it does | scope | file |
| --- | --- | --- | --- |
${interfaceRoutes()
  .map(({ route, about, scope, file }) => `| \`${route}\` | ${cell(about)} | ${scope} | \`${file}\` |`)
  .join('\n')}

## Pages and the service itself

\`console/core/pages.ts\` serves the files and addresses of the console.

| route | what it does | file |
| --- | --- | --- |
${otherRoutes()
  .map(({ route, about, file }) => `| \`${route}\` | ${cell(about)} | \`${file}\` |`)
  .join('\n')}

## The console's API

Requests have the cookie of a session whose user has at least this role. The shapes are in \`contract/src/console\`.

| route | minimum role | file |
| --- | --- | --- |
${consoleRoutes()
  .map(({ route, role, file }) => `| \`${route}\` | ${role} | \`${file}\` |`)
  .join('\n')}
`;
}

if (import.meta.main) {
  for (const [name, text] of Object.entries(documents)) writeFileSync(new URL(name, docs), text);
}
